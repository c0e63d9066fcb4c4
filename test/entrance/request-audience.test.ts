import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { admitAudience } from "../../src/entrance/request-audience.ts";
import worker from "../../src/worker.ts";
import { make } from "../support/make.ts";
import { makeApplication, makeTokens } from "../support/oauth.ts";

type Incoming = Parameters<typeof worker.fetch>[0];

/** The status of a request for the caller's account. */
async function statusOf(token: string, isAdmitted: boolean, headers = {}): Promise<number> {
  const request = new Request("https://forge.example/api/v1/user", {
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });
  const sent = isAdmitted ? admitAudience(request, "mcp") : request;
  return (await worker.fetch(sent as Incoming, env, createExecutionContext())).status;
}

describe("a request that is admitted for an audience", () => {
  it("takes tokens for it, for the whole service, and personal ones", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const { access: own } = await makeTokens(user, application, { audience: "mcp" });
    const { access: wide } = await makeTokens(user, application);
    for (const token of [own, wide, await make.token(user)]) {
      expect(await statusOf(token, true)).toBe(200);
    }
  });

  // SECURITY: nothing that a request holds makes it one of the door's own.
  it("is none that came from outside", async () => {
    const user = await make.user();
    const { access } = await makeTokens(user, await makeApplication(user), { audience: "mcp" });
    for (const headers of [{}, { Audience: "mcp", "Mcp-Method": "tools/call", Via: "mcp" }]) {
      expect(await statusOf(access, false, headers)).toBe(401);
    }
  });

  it("still needs the scopes of its route", async () => {
    const user = await make.user();
    const application = await makeApplication(user);
    const scope = "read:issue";
    const { access } = await makeTokens(user, application, { audience: "mcp", scope });
    expect(await statusOf(access, true)).toBe(403);
  });
});
