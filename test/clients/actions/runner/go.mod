module runner

go 1.26

require (
	connectrpc.com/connect v1.19.1
	gitea.dev/actions-proto-go v0.6.0
	github.com/nektos/act v0.2.49
	github.com/sirupsen/logrus v1.9.3
	google.golang.org/protobuf v1.36.9
)

// Of what the engine needs, the module that no go.mod names a version of.
require github.com/Azure/go-ansiterm v0.0.0-20261006220739-8c912ac31dd4 // indirect

// Where their authors publish them.
replace (
	gitea.dev/actions-proto-go => code.gitea.io/actions-proto-go v0.6.0
	github.com/nektos/act => gitea.com/gitea/act v0.261.10
)
