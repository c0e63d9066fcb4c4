#!/usr/bin/env bash
# A module's zip with entries for its folders, as `git archive --format=zip` writes them, is valid:
# golang.org/x/mod/zip skips such entries, and `go get` takes it. One expects `go mod verify` to
# agree. It fails for ever with "dir has been modified": the checksum of the zip counts the
# entries of folders, that of the unpacked folder does not.
# Seen with go 1.26.8.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOPATH=$folder/go GOFLAGS=-mod=mod GONOSUMDB=* GOTOOLCHAIN=local GOWORK=off

# A proxy of files with one module in two versions: without and with entries for folders.
mkdir -p source/sub proxy/example.com/greet/@v app
printf 'module example.com/greet\n\ngo 1.20\n' > source/go.mod
echo 'package greet' > source/greet.go
echo 'package sub' > source/sub/sub.go
git -C source init --quiet
git -C source add .
git -C source -c user.name=a -c user.email=a@example.com commit --quiet --message one
versions=proxy/example.com/greet/@v
for version in v1.0.0 v1.0.1; do
  echo "{\"Version\":\"$version\"}" > "$versions/$version.info"
  cp source/go.mod "$versions/$version.mod"
  git -C source archive --format=zip --prefix="example.com/greet@$version/" HEAD > "$versions/$version.zip"
done
python3 - "$versions/v1.0.0.zip" <<'END'
import sys, zipfile
path = sys.argv[1]
with zipfile.ZipFile(path) as archive:
    files = [(each, archive.read(each)) for each in archive.namelist() if not each.endswith("/")]
with zipfile.ZipFile(path, "w") as archive:
    for name, content in files:
        archive.writestr(name, content)
END
export GOPROXY=file://$folder/proxy

go version
cd app
go mod init example.com/app 2> /dev/null
go get example.com/greet@v1.0.0
echo "without entries for folders: $(go mod verify 2>&1)"
go mod verify > /dev/null
go get example.com/greet@v1.0.1
status=0
output=$(go mod verify 2>&1) || status=$?
echo "with them: $output"
[[ $status != 0 && $output == *"dir has been modified"* ]]
