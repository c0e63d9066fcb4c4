import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, it } from "vitest";

import { makeUser, serviceUrl } from "../support/forge.ts";
import { Reader } from "../support/reader.ts";

const MODULE = resolve(
  "node_modules/.cache/npm-mcp/node_modules/@modelcontextprotocol/client/dist/index.mjs",
);

/** The parts of the official SDK that the story uses. */
interface Sdk {
  Client: new (info: object) => {
    connect(transport: object): Promise<void>;
    close(): Promise<void>;
    callTool(
      call: object,
    ): Promise<{ isError?: boolean; structuredContent: { repository: string } }>;
  };
  StreamableHTTPClientTransport: new (
    url: URL,
    options: object,
  ) => { finishAuth(answer: URLSearchParams): Promise<void> };
}

/** What a program keeps for its client, as the SDK asks for it. */
function makeProvider() {
  const kept: { client?: object; tokens?: object; verifier?: string; address?: URL } = {};
  return {
    kept,
    redirectUrl: "http://127.0.0.1:9/callback",
    clientMetadata: { client_name: "A story", redirect_uris: ["http://127.0.0.1:9/callback"] },
    state: () => "of-the-story",
    clientInformation: () => kept.client,
    saveClientInformation: (client: object) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens: object) => void (kept.tokens = tokens),
    redirectToAuthorization: (address: URL) => void (kept.address = address),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
  };
}

it.skipIf(!existsSync(MODULE))(
  "a client that knows only the address signs its user in, and works",
  async () => {
    const { Client, StreamableHTTPClientTransport } = (await import(
      pathToFileURL(MODULE).href
    )) as Sdk;
    const provider = makeProvider();
    const user = await makeUser();
    const reader = await Reader.signedIn(user);
    const open = () =>
      new StreamableHTTPClientTransport(new URL(`${serviceUrl}/mcp`), { authProvider: provider });
    const transport = open();
    await expect(new Client({ name: "story", version: "1.0" }).connect(transport)).rejects.toThrow(
      "Unauthorized",
    );
    const answer = await reader.grant(provider.kept.address ?? new URL("none:"));
    await transport.finishAuth(answer.searchParams);

    const client = new Client({ name: "story", version: "1.0" });
    await client.connect(open());
    const made = await client.callTool({
      name: "create_repository",
      arguments: { name: "of-an-agent", readme: true },
    });
    await client.close();

    expect(made.isError).toBeFalsy();
    expect(made.structuredContent.repository).toBe(`${user.name}/of-an-agent`);
  },
);
