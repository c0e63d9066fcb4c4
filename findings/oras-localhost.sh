#!/usr/bin/env bash
# The first part of an image's name is a registry if it has a dot or a port, or is `localhost`. One
# expects this of oras for Python as of other clients: `localhost/notes:1` is at the registry of
# this machine. It takes `localhost` for a namespace at docker.io, unless a port is named.
# Seen with oras 0.2.43 of PyPI and github.com/distribution/reference 0.6.0.
set -euo pipefail

folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
export GOPATH=$folder/go GOFLAGS=-mod=mod GOTOOLCHAIN=local GOWORK=off
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check oras==0.2.43
cat > parse.py <<'END'
import sys
from oras.container import Container
for line in sys.stdin:
    container = Container(line.strip())
    print(container.registry, container.api_prefix)
END
go mod init example.com/parse > /dev/null 2>&1
go get github.com/distribution/reference@v0.6.0 > go.log 2>&1 || { cat go.log; exit 1; }
cat > main.go <<'END'
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/distribution/reference"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		named, err := reference.ParseNormalizedNamed(lines.Text())
		if err != nil {
			panic(err)
		}
		fmt.Println(reference.Domain(named), reference.Path(named))
	}
}
END
printf '%s\n' localhost:5000/notes:1 registry.example/notes:1 localhost/notes:1 > names
go run . < names > by-reference
python/bin/python parse.py < names > by-oras
paste -d '|' names by-reference by-oras | tee output
diff - output <<'END'
localhost:5000/notes:1|localhost:5000 notes|localhost:5000 notes
registry.example/notes:1|registry.example notes|registry.example notes
localhost/notes:1|localhost notes|docker.io localhost/notes
END
