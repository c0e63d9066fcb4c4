import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { callApi, makeUser, serviceUrl } from "../support/forge.ts";
import { Reader } from "../support/reader.ts";

const CALLBACK = "http://127.0.0.1:9/callback";
const SCRIPT = fileURLToPath(new URL("authlib_client.py", import.meta.url));

const hasAuthlib = spawnSync("python3", ["-c", "import authlib, requests"]).status === 0;
if (!hasAuthlib) console.log("no Authlib: its test is skipped");

interface Application {
  client_id: string;
  client_secret: string;
}

/** Runs the script, and sends it the answer to the address that it prints. */
async function run(
  args: readonly string[],
  visit: (address: string) => Promise<URL>,
): Promise<unknown> {
  const child = spawn("python3", [SCRIPT, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const lines: unknown[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(JSON.parse(line));
    if (lines.length > 1) break;
    const { address } = lines[0] as { address: string };
    child.stdin.end(`${(await visit(address)).href}\n`);
  }
  if (lines.length < 2) throw new Error(`the client ended early: ${errors}`);
  return lines[1];
}

it.skipIf(!hasAuthlib)(
  "Authlib signs a user in, checks the ID token, refreshes and revokes",
  async () => {
    const [user, owner] = [await makeUser(), await makeUser()];
    const body = { name: "authlib", redirect_uris: [CALLBACK], confidential_client: true };
    const path = "/user/applications/oauth2";
    const application = await callApi<Application>(owner, "POST", path, body);
    const { id } = await callApi<{ id: number }>(user, "GET", "/user");
    const reader = await Reader.signedIn(user);

    const { client_id, client_secret } = application;
    const found = await run([serviceUrl, client_id, client_secret, CALLBACK], (address) =>
      reader.grant(address),
    );

    expect(found).toEqual({
      subject: String(id),
      claims: { iss: serviceUrl, aud: client_id, sub: String(id), nonce: "n-1" },
      refreshed: true,
      status: 200,
      revoked: 401,
    });
  },
);
