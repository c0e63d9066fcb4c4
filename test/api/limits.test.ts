import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { accessTokens } from "../../src/db/schema/index.ts";
import { call } from "../support/call.ts";
import { CountingLimiter } from "../support/counting-limiter.ts";
import { db } from "../support/db.ts";
import { make } from "../support/make.ts";
import { serviceWith } from "../support/service.ts";

const from = (address: string) => ({ "CF-Connecting-IP": address });

describe("limits of actions", () => {
  it("count tokens of an account, and write nothing over the limit", async () => {
    const limited = serviceWith({}, { TOKEN_CREATIONS: new CountingLimiter(2) });
    const [user, other] = [await make.user(), await make.user()];
    const create = (by: typeof user, name: string) =>
      limited("POST", `/users/${by.name}/tokens`, {
        as: by,
        json: { name, scopes: ["read:user"] },
      });
    const statuses = [];
    for (const name of ["a", "b", "c"]) statuses.push((await create(user, name)).status);
    expect(statuses).toEqual([201, 201, 429]);

    const over = await create(user, "d");
    expect(over.headers.get("Retry-After")).toBe("60");
    expect(over.body).toMatchObject({ message: expect.any(String), url: expect.any(String) });
    const tokens = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    expect(tokens.filter(({ name }) => ["c", "d"].includes(name))).toEqual([]);
    expect((await create(other, "a")).status).toBe(201);
  });

  // Administrators provision tokens for very many accounts.
  it("count tokens by the account that gets them, not by their maker", async () => {
    const limited = serviceWith({}, { TOKEN_CREATIONS: new CountingLimiter(1) });
    const admin = await make.admin();
    const [one, another] = [await make.user(), await make.user()];
    const create = async (name: string, account: typeof one) => {
      const json = { name, scopes: ["read:user"] };
      return (await limited("POST", `/users/${account.name}/tokens`, { as: admin, json })).status;
    };

    expect([await create("a", one), await create("a", another), await create("b", one)]).toEqual([
      201, 201, 429,
    ]);
  });

  it("count texts that an account has rendered, by whichever operation", async () => {
    const limited = serviceWith({}, { RENDERINGS: new CountingLimiter(2) });
    const user = await make.user();
    const render = async (path: string) =>
      (await limited("POST", path, { as: user, json: { Text: "*a*", Mode: "gfm" } })).status;

    expect([await render("/markdown"), await render("/markup"), await render("/markdown")]).toEqual(
      [200, 200, 429],
    );
    const raw = await limited("POST", "/markdown/raw", {
      as: user,
      headers: { "Content-Type": "text/plain" },
      body: "*a*",
    });
    expect(raw.status).toBe(429);
  });

  it.each(["/repos/search", "/users/search?q=abc", "/topics/search?q=abc"])(
    "count anonymous searches from an address: %s",
    async (path) => {
      const limited = serviceWith({}, { ANONYMOUS_SEARCHES: new CountingLimiter(1) });
      const user = await make.user();
      const search = async (address: string) =>
        (await limited("GET", path, { headers: from(address) })).status;

      expect([await search("192.0.2.1"), await search("192.0.2.1")]).toEqual([200, 429]);
      expect(await search("192.0.2.2")).toBe(200);
      const headers = from("192.0.2.1");
      expect((await limited("GET", path, { as: user, headers })).status).toBe(200);
    },
  );

  // One counter for all callers without a known address would let one of them stop the others.
  it("count nothing of callers whose address is not known", async () => {
    const limited = serviceWith({}, { ANONYMOUS_SEARCHES: new CountingLimiter(0) });

    expect((await limited("GET", "/repos/search")).status).toBe(200);
  });

  it("count tests of webhooks", async () => {
    const limited = serviceWith({}, { WEBHOOK_TESTS: new CountingLimiter(0) });
    const user = await make.user();
    const { body: repo } = await call("POST", "/user/repos", {
      as: user,
      json: { name: "repo", auto_init: true },
    });
    const path = `/repos/${user.name}/${repo.name}/hooks`;
    const config = { url: "https://hook.example/", content_type: "json" };
    const hook = await call("POST", path, { as: user, json: { type: "gitea", config } });
    expect(hook.status).toBe(201);

    expect((await limited("POST", `${path}/${hook.body.id}/tests`, { as: user })).status).toBe(429);
    expect((await call("POST", `${path}/${hook.body.id}/tests`, { as: user })).status).toBe(204);
  });

  it("count requests that add addresses", async () => {
    const limited = serviceWith({}, { ADDRESS_ADDITIONS: new CountingLimiter(0) });
    const user = await make.user();
    const json = { emails: [`second-${user.email}`] };

    expect((await limited("POST", "/user/emails", { as: user, json })).status).toBe(429);
    expect((await call("GET", "/user/emails", { as: user })).body).toHaveLength(1);
  });

  it("are counted by each isolate where the service has no binding", async () => {
    const limited = serviceWith({}, { ADDRESS_ADDITIONS: undefined });
    const user = await make.user();
    const statuses = [];
    for (let at = 0; at < 21; at++) {
      const json = { emails: [`number-${at}-${user.email}`] };
      statuses.push((await limited("POST", "/user/emails", { as: user, json })).status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 201));
    expect(statuses.at(-1)).toBe(429);
  });
});
