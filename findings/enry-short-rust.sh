#!/usr/bin/env bash
# go-enry tells the language of a file by its name and its content; Gitea counts languages by it.
# One expects Rust for a file `.rs` of one valid line of Rust. It depends on the line: a type or a
# static item alone is XML, which has this extension for the language of a tool for resources.
# Seen with github.com/go-enry/go-enry/v2 2.9.6.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOPATH=$folder/go GOFLAGS=-mod=mod GOTOOLCHAIN=local GOWORK=off CGO_ENABLED=0
go mod init example.com/languages > /dev/null 2>&1
go get github.com/go-enry/go-enry/v2@v2.9.6 > go.log 2>&1 || { cat go.log; exit 1; }
cat > main.go <<'END'
package main

import (
	"fmt"

	"github.com/go-enry/go-enry/v2"
)

func main() {
	for _, line := range []string{
		"mod net;",
		"const LIMIT: u32 = 8;",
		"static LIMIT: u32 = 8;",
		"type Id = u64;",
	} {
		fmt.Printf("%s %s\n", enry.GetLanguage("src/lib.rs", []byte(line+"\n")), line)
	}
}
END
go run . | tee output
diff - output <<'END'
Rust mod net;
Rust const LIMIT: u32 = 8;
XML static LIMIT: u32 = 8;
XML type Id = u64;
END
