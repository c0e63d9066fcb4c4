#!/usr/bin/env bash
# git-url-parse takes addresses of repositories apart and turns them into those of other protocols.
# For one over SSH at a port of its own, one expects the address over HTTPS to have none: the port
# is that of SSH. It keeps it. Of a file's page of Gitea, /src/branch/<branch>/<path>, one expects
# the branch and the path: it says that the branch is called "branch".
# Seen with git-url-parse 16.1.0.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund git-url-parse@16.1.0
cat > parse.mjs <<'END'
import parse from "git-url-parse";
console.log(parse("ssh://git@gitea.example:2222/ada/engine.git").toString("https"));
const file = parse("https://gitea.example/ada/engine/src/branch/main/docs/notes.md");
console.log(`${file.owner}/${file.name}: ref ${file.ref}, path ${file.filepath}`);
END
node parse.mjs | tee output
diff - output <<'END'
https://gitea.example:2222/ada/engine.git
ada/engine: ref branch, path main/docs/notes.md
END
