module runner

go 1.26

require (
	connectrpc.com/connect v1.19.1
	gitea.dev/actions-proto-go v0.6.0
	github.com/nektos/act v0.2.49
	github.com/sirupsen/logrus v1.9.3
	google.golang.org/protobuf v1.36.9
)

// Where their authors publish them.
replace (
	gitea.dev/actions-proto-go => code.gitea.io/actions-proto-go v0.6.0
	github.com/nektos/act => gitea.com/gitea/act v0.261.10
)
