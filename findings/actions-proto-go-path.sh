#!/usr/bin/env bash
# The messages that Gitea and its runners exchange are published as a Go module. One expects that the
# newest version of code.gitea.io/actions-proto-go is taken by its path, as v0.4.1 is. Version 0.6.0
# states another path, gitea.dev/actions-proto-go, so that Go refuses it under the one where it is
# found; a `replace` of the new path by the old one takes it.
# Seen with v0.6.0 and Go 1.26.
set -euo pipefail

directory=$(mktemp -d)
trap 'chmod -R u+w "$directory" && rm -rf "$directory"' EXIT
cd "$directory"
export GOPATH=$directory/go GOFLAGS=-mod=mod
go mod init example >/dev/null 2>&1
go get code.gitea.io/actions-proto-go@v0.4.1 >/dev/null 2>&1
echo "v0.4.1: taken"
refusal=$(go get code.gitea.io/actions-proto-go@v0.6.0 2>&1 || true)
grep -q 'module declares its path as: gitea.dev/actions-proto-go' <<<"$refusal"
echo "v0.6.0: states another path"
go mod edit -droprequire=code.gitea.io/actions-proto-go
go mod edit -require=gitea.dev/actions-proto-go@v0.6.0 \
  -replace=gitea.dev/actions-proto-go=code.gitea.io/actions-proto-go@v0.6.0
cat >main.go <<'END_OF_FILE'
package main

import (
	"fmt"

	runner "gitea.dev/actions-proto-go/runner/v1"
)

func main() { fmt.Println(len(runner.Result_name)) }
END_OF_FILE
[[ $(go run . 2>/dev/null) == 5 ]]
echo "v0.6.0 by its own path and a replacement: taken"
