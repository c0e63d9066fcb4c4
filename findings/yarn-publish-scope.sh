#!/usr/bin/env bash
# With `npmScopes.acme.npmRegistryServer` in .yarnrc.yml, one expects `yarn npm publish` of
# @acme/p to go where `yarn install` finds it, as npm and pnpm do it with `@acme:registry`.
# Yarn publishes to the DEFAULT registry, which is the public one: a private package is sent
# there. `npmPublishRegistry` is needed in the scope, too; the read setting does not stand in.
# Seen with Yarn 4.18.1.
set -euo pipefail

folder=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix client @yarnpkg/cli-dist@4.18.1
export YARN_ENABLE_TELEMETRY=0 YARN_ENABLE_GLOBAL_CACHE=false YARN_UNSAFE_HTTP_WHITELIST=127.0.0.1
export YARN_GLOBAL_FOLDER=$folder/global

# Two registries in one: /default is that of all packages, /acme that of the scope.
cat > server.mjs <<'END'
import { appendFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
const server = createServer((request, response) => {
  if (request.method === "PUT") appendFileSync("requests", `PUT ${request.url}\n`);
  request.resume();
  response.writeHead(request.method === "PUT" ? 201 : 404, { "Content-Type": "application/json" });
  response.end("{}");
});
server.listen(0, "127.0.0.1", () => writeFileSync("port", String(server.address().port)));
END
node server.mjs &
server=$!
until [[ -s port ]]; do sleep 0.1; done
host=http://127.0.0.1:$(cat port)

mkdir package
cd package
echo '{"name":"@acme/p","version":"1.0.0"}' > package.json
: > yarn.lock
yarn() { node ../client/node_modules/@yarnpkg/cli-dist/bin/yarn.js "$@"; }
publish() {
  : > ../requests
  {
    printf '%s\n' "npmRegistryServer: $host/default" "npmAuthToken: y" 'npmScopes:' '  acme:'
    printf '    %s\n' "npmRegistryServer: $host/acme" 'npmAuthToken: x' "$@"
  } > .yarnrc.yml
  yarn install > /dev/null
  yarn npm publish > ../output || { cat ../output; exit 1; }
  cat ../requests
}

echo "Yarn $(yarn --version)"
echo "with npmRegistryServer of the scope:"
publish
grep -q '^PUT /default/@acme%2fp$' ../requests
echo "with npmPublishRegistry of the scope, too:"
publish "npmPublishRegistry: $host/acme"
grep -q '^PUT /acme/@acme%2fp$' ../requests
echo "seen: the registry that the scope is read from is not the one that it is published to"
