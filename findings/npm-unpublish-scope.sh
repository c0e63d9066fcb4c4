#!/usr/bin/env bash
# With a registry for a scope alone (`@acme:registry=https://host/path/`), one expects
# `npm unpublish @acme/p@2.0.0` to delete the tarball at its own address, or to fail.
# npm makes the address by the path of the DEFAULT registry and sends it to that of the scope, so
# the path is there twice, and takes the 404 for success: it prints "- @acme/p@2.0.0" and exits 0.
# A registry that deletes a version at the DELETE of its tarball keeps it.
# Seen with npm 12.2.2 and 10.9.0, which is run here.
set -euo pipefail

folder=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . npm@10.9.0

# A registry at a path, with two versions. It prints what deletes and changes.
cat > server.mjs <<'END'
import { appendFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
const server = createServer((request, response) => {
  const base = `http://127.0.0.1:${server.address().port}/registry/acme/`;
  const version = (v) => ({ name: "@acme/p", version: v, dist: { tarball: `${base}@acme/p/-/p-${v}.tgz` } });
  const isPackage = request.url.startsWith("/registry/acme/@acme%2fp");
  const isTarball = request.url.startsWith("/registry/acme/@acme/p/-/");
  if (request.method !== "GET") appendFileSync("requests", `${request.method} ${request.url}\n`);
  request.resume();
  response.writeHead(isPackage || isTarball ? 200 : 404, { "Content-Type": "application/json" });
  response.end(
    isPackage
      ? JSON.stringify({
          _id: "@acme/p", _rev: "1-a", name: "@acme/p", "dist-tags": { latest: "1.0.0" },
          versions: { "1.0.0": version("1.0.0"), "2.0.0": version("2.0.0") },
        })
      : "{}",
  );
});
server.listen(0, "127.0.0.1", () => writeFileSync("port", String(server.address().port)));
END
node server.mjs &
server=$!
until [[ -s port ]]; do sleep 0.1; done
registry=127.0.0.1:$(cat port)/registry/acme/

unpublish() {
  : > requests
  printf '%s\n' "$1" "//$registry:_authToken=x" update-notifier=false > .npmrc
  status=0
  node node_modules/npm/bin/npm-cli.js unpublish @acme/p@2.0.0 --userconfig="$PWD/.npmrc" \
    --cache="$PWD/cache" || status=$?
  cat requests
}

echo "npm $(node node_modules/npm/bin/npm-cli.js --version)"
echo "the registry set for all packages:"
unpublish "registry=http://$registry"
grep -q '^DELETE /registry/acme/@acme/p/-/p-2.0.0.tgz' requests
echo "the registry set for the scope:"
unpublish "@acme:registry=http://$registry"
grep -q '^DELETE /registry/acme/registry/acme/@acme/p/-/p-2.0.0.tgz' requests
((status == 0))
echo "seen: the path is sent twice, the answer is 404, and npm exits $status"
