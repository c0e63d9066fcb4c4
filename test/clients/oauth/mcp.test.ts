import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import type { Scope } from "../../../src/auth/scope.ts";
import { bearerChallenge } from "../../../src/entrance/bearer-challenge.ts";
import { makeUser, serviceUrl } from "../support/forge.ts";
import { Reader } from "../support/reader.ts";

// A client that knows only the address of the door for agents gets a token. The door is played
// here: it refuses as the service's does, and takes any token.

const SERVER = `${serviceUrl}/mcp`;
const CALLBACK = "http://127.0.0.1:9/callback";
const PACKAGES = resolve("node_modules/.cache/npm-mcp/node_modules/@modelcontextprotocol");
const SCRIPT = fileURLToPath(new URL("mcp_client.py", import.meta.url));
const READ = ["read:repository", "read:user"] as const;

interface Stored {
  client_id: string;
  token_endpoint_auth_method?: string;
}

interface Tokens {
  access_token: string;
  refresh_token?: string;
  scope?: string;
}

interface Transport {
  start(): Promise<void>;
  send(message: object): Promise<void>;
  finishAuth(answer: string | URLSearchParams): Promise<void>;
}

/** The parts of both generations that the story uses. */
interface Sdk {
  auth(provider: Provider, options: object): Promise<"AUTHORIZED" | "REDIRECT">;
  StreamableHTTPClientTransport: new (url: URL, options: object) => Transport;
}

/** What a program keeps for the client, as the documentation shows it. */
class Provider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = {
    client_name: "An agent",
    redirect_uris: ["http://127.0.0.1/callback", CALLBACK],
    token_endpoint_auth_method: "none",
  };
  clientMetadataUrl: string | undefined;
  client: Stored | undefined;
  stored: Tokens | undefined;
  address: URL | undefined;
  private verifier = "";

  state = () => "of-the-agent";
  clientInformation = () => this.client;
  saveClientInformation = (client: Stored) => void (this.client = client);
  tokens = () => this.stored;
  saveTokens = (tokens: Tokens) => void (this.stored = tokens);
  redirectToAuthorization = (address: URL) => void (this.address = address);
  saveCodeVerifier = (verifier: string) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
}

/** The door: what it was sent, and how it answers. */
function openDoor() {
  const sent: (string | null)[] = [];
  let needed: readonly Scope[] | undefined;
  const answer = (headers: Headers): Response => {
    const credential = headers.get("authorization");
    sent.push(credential);
    const base = { rootUrl: serviceUrl };
    if (credential === null) return refusal(401, bearerChallenge(base, { scopes: READ }));
    if (needed) {
      const error = "insufficient_scope";
      return refusal(403, bearerChallenge(base, { error, scopes: needed }));
    }
    return new Response(null, { status: 202 });
  };
  const fetchThere = async (url: string | URL, init?: RequestInit): Promise<Response> =>
    String(url) === SERVER ? answer(new Headers(init?.headers)) : fetch(url, init);
  return {
    sent,
    fetch: fetchThere,
    /** Refuses every token from now on for want of scopes; or none any more. */
    require: (scopes: readonly Scope[] | undefined) => void (needed = scopes),
  };
}

const refusal = (status: number, challenge: string): Response =>
  new Response(null, { status, headers: { "WWW-Authenticate": challenge } });

const MESSAGE = { jsonrpc: "2.0", method: "notifications/initialized" };

/** The login that a token acts for. */
async function loginOf(token: string): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${serviceUrl}/login/oauth/userinfo`, { headers });
  return ((await answer.json()) as Record<string, unknown>)["preferred_username"];
}

const SDKS: Readonly<Record<string, { files: readonly string[]; isNew: boolean }>> = {
  "@modelcontextprotocol/client 2.4": { files: ["client/dist/index.mjs"], isNew: true },
  "@modelcontextprotocol/sdk 1.32": {
    files: ["sdk/dist/esm/client/auth.js", "sdk/dist/esm/client/streamableHttp.js"],
    isNew: false,
  },
};

describe.each(Object.entries(SDKS))("%s", (_, { files, isNew }) => {
  const paths = files.map((file) => resolve(PACKAGES, file));
  const isThere = paths.every((path) => existsSync(path));
  if (!isThere) console.log(`no ${files[0]}: its test is skipped`);

  it.skipIf(!isThere)(
    "finds the provider, registers itself, gets a token for the door, and refreshes it",
    async () => {
      const modules = await Promise.all(paths.map((path) => import(pathToFileURL(path).href)));
      const sdk = Object.assign({}, ...modules) as Sdk;
      const [user, door, provider] = [await makeUser(), openDoor(), new Provider()];
      const open = () =>
        new sdk.StreamableHTTPClientTransport(new URL(SERVER), {
          authProvider: provider,
          fetch: door.fetch,
        });
      let transport = open();
      await transport.start();
      const reader = await Reader.signedIn(user);

      /** Sends a message that needs the user, and lets the user decide. */
      const authorize = async (): Promise<URLSearchParams> => {
        await expect(transport.send(MESSAGE)).rejects.toThrow("Unauthorized");
        const address = provider.address ?? new URL("none:");
        const answer = await reader.grant(address);
        expect(answer.searchParams.get("iss")).toBe(serviceUrl);
        expect(answer.searchParams.get("state")).toBe("of-the-agent");
        const code = answer.searchParams.get("code") ?? "";
        await transport.finishAuth(isNew ? answer.searchParams : code);
        return address.searchParams;
      };

      const asked = await authorize();

      expect(Object.fromEntries(asked)).toMatchObject({
        resource: SERVER,
        scope: READ.join(" "),
        code_challenge_method: "S256",
        client_id: provider.client?.client_id,
      });
      expect(provider.stored).toMatchObject({ scope: READ.join(" ") });
      const first = provider.stored?.access_token ?? "";
      await transport.send(MESSAGE);
      expect(door.sent.at(-1)).toBe(`Bearer ${first}`);
      expect(await loginOf(first)).toBe(user.name);
      const api = { headers: { Authorization: `Bearer ${first}` } };
      expect((await fetch(`${serviceUrl}/api/v1/user`, api)).status).toBe(401);

      const options = { serverUrl: SERVER, fetchFn: door.fetch };
      expect(await sdk.auth(provider, options)).toBe("AUTHORIZED");
      const second = provider.stored?.access_token ?? "";
      expect(second).not.toBe(first);
      expect(await loginOf(second)).toBe(user.name);

      // The door needs more, for which the user is asked.
      transport = open();
      await transport.start();
      provider.stored = { access_token: second };
      door.require(["write:issue"]);
      const more = await authorize();
      door.require(undefined);
      expect(more.get("scope")?.split(" ")).toContain("write:issue");
      expect(provider.stored?.scope).toContain("write:issue");
      await transport.send(MESSAGE);
    },
  );

  it.skipIf(!isThere)("takes its document for its name, where it has one", async () => {
    const modules = await Promise.all(paths.map((path) => import(pathToFileURL(path).href)));
    const sdk = Object.assign({}, ...modules) as Sdk;
    const [door, provider] = [openDoor(), new Provider()];
    provider.clientMetadataUrl = "https://agent.example/client.json";
    const options = { serverUrl: SERVER, fetchFn: door.fetch };
    expect(await sdk.auth(provider, options)).toBe("REDIRECT");
    expect(provider.address?.searchParams.get("client_id")).toBe(provider.clientMetadataUrl);
  });
});

const hasPython = spawnSync("python3", ["-c", "import mcp.client.auth"]).status === 0;
if (!hasPython) console.log("no mcp for Python: its test is skipped");

it.skipIf(!hasPython)(
  "the client in Python finds the provider, registers itself and gets a token",
  async () => {
    const user = await makeUser();
    const reader = await Reader.signedIn(user);
    const challenge = bearerChallenge({ rootUrl: serviceUrl }, { scopes: READ });
    const child = spawn("python3", [SCRIPT, SERVER, CALLBACK, challenge], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    const lines: Record<string, string>[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(JSON.parse(line) as Record<string, string>);
      if (lines.length > 1) break;
      const answer = await reader.grant(lines[0]?.["address"] ?? "");
      child.stdin.end(`${answer.href}\n`);
    }
    if (lines.length < 2) throw new Error(`the client ended early: ${errors}`);

    const asked = new URL(lines[0]?.["address"] ?? "").searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({ resource: SERVER, scope: READ.join(" ") });
    expect(lines[1]).toMatchObject({ status: 202, scope: READ.join(" ") });
    expect(await loginOf(lines[1]?.["token"] ?? "")).toBe(user.name);
  },
);
