#!/usr/bin/env bash
# A client of OAuth that authenticates by HTTP Basic encodes its id as forms do (RFC 6749, 2.3.1).
# Forms leave hyphens, dots and underscores as they are, so that one expects an id like that of a
# Gitea application, a UUID, to be sent as it is: a server that decodes nothing takes it, too.
# oauth4webapi, on which openid-client is built, encodes these as well; simple-oauth2 does not.
# Seen with oauth4webapi 3.8.8 and simple-oauth2 5.1.0.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund oauth4webapi@3.8.8 simple-oauth2@5.1.0
cat > ask.mjs <<'END'
import { createServer } from "node:http";
import * as oauth from "oauth4webapi";
import { ClientCredentials } from "simple-oauth2";
const id = "d57cb8c4-630c-4168-8324-ec79935e18d4";
const secret = "gto_a.b";

let received;
const server = createServer((request, response) => {
  received = atob(request.headers.authorization.replace("Basic ", ""));
  request.resume();
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"access_token":"x","token_type":"bearer"}');
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

await oauth.clientCredentialsGrantRequest(
  { issuer: origin, token_endpoint: `${origin}/token` },
  { client_id: id },
  oauth.ClientSecretBasic(secret),
  {},
  { [oauth.allowInsecureRequests]: true },
);
console.log(`oauth4webapi: ${received}`);
const client = { id, secret };
await new ClientCredentials({ client, auth: { tokenHost: origin, tokenPath: "/token" } }).getToken({});
console.log(`simple-oauth2: ${received}`);
server.close();
server.closeAllConnections();
END
node ask.mjs | tee output
diff - output <<'END'
oauth4webapi: d57cb8c4%2D630c%2D4168%2D8324%2Dec79935e18d4:gto%5Fa%2Eb
simple-oauth2: d57cb8c4-630c-4168-8324-ec79935e18d4:gto_a.b
END
