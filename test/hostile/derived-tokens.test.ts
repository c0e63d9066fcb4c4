import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { ANONYMOUS } from "../../src/auth/actor.ts";
import { accessTokens, repositories } from "../../src/db/schema/index.ts";
import { createAccessToken } from "../../src/domain/people/tokens/create-access-token.ts";
import { only } from "../../src/lib/only.ts";
import { basic, call, type Sending } from "../support/call.ts";
import { db } from "../support/db.ts";
import { eventsIn } from "../support/events.ts";
import { freshName, make, type TestRepo, type TestUser } from "../support/make.ts";
import { makeCommit, push } from "../support/push.ts";
import { systemCtx } from "../support/system.ts";
import { logged } from "../support/usage.ts";

const create = async (user: Pick<TestUser, "name">, sending: Sending, fields: object = {}) => {
  const path = `/users/${user.name}/tokens`;
  const json = { name: freshName("made"), scopes: ["all"], ...fields };
  const { status, body } = await call("POST", path, { ...sending, json });
  expect(status).toBe(201);
  return body as { id: number; name: string; sha1: string; created_by_token_id: number | null };
};

const remove = (user: TestUser, key: number | string, sending: Sending = { as: user }) =>
  call("DELETE", `/users/${user.name}/tokens/${key}`, sending);

const statusOf = async (token: string): Promise<number> =>
  (await call("GET", "/user", { token })).status;

/** A token made with the password, one made with it, and one made with that one. */
async function makeLine(user: TestUser) {
  const first = await create(user, { headers: basic(user.name, user.password) });
  const second = await create(user, { token: first.sha1 });
  const third = await create(user, { token: second.sha1 });
  return [first, second, third] as const;
}

describe("a token made by a stolen token", () => {
  it.each(["id", "name"] as const)(
    "ends when the stolen one is deleted by its %s, down to the last, each with its event",
    async (key) => {
      const user = await make.userWithPassword();
      const line = await makeLine(user);
      const apart = await create(user, { headers: basic(user.name, user.password) });

      const { answer, line: costs } = await logged(() => remove(user, line[0][key]));

      expect(answer.status).toBe(204);
      expect(costs).toMatchObject({ d1Rounds: 3 });
      for (const { sha1 } of line) expect(await statusOf(sha1)).toBe(401);
      expect(await statusOf(apart.sha1)).toBe(200);
      expect(await statusOf(user.token)).toBe(200);
      const deleted = (await eventsIn(user)).filter(({ type }) => type === "access_token.deleted");
      expect(deleted.map(({ payload }) => payload)).toEqual(line.map(({ name }) => ({ name })));
    },
  );

  it("leaves its maker in place when it is deleted itself", async () => {
    const user = await make.userWithPassword();
    const [first, second, third] = await makeLine(user);
    expect((await remove(user, second.id)).status).toBe(204);
    expect(await statusOf(first.sha1)).toBe(200);
    expect(await statusOf(third.sha1)).toBe(401);
  });

  it("ends also in another account, for which an administrator's token made it", async () => {
    const [admin, user] = [await make.admin(), await make.user()];
    const stolen = await make.token(admin);
    const made = await create(user, { token: stolen });
    const bySudo = await create(user, { token: stolen, headers: { Sudo: user.name } });
    const isStolen = eq(accessTokens.lastEight, stolen.slice(-8));
    const { id } = only(await db.select().from(accessTokens).where(isStolen));
    expect((await remove(admin, id)).status).toBe(204);
    for (const { sha1 } of [made, bySudo]) expect(await statusOf(sha1)).toBe(401);
    const events = (await eventsIn(user)).filter(({ type }) => type === "access_token.deleted");
    expect(events.map(({ payload }) => payload)).toEqual([
      { name: made.name },
      { name: bySudo.name },
    ]);
  });

  it("ends with a maker that is deleted past the API, too", async () => {
    const user = await make.userWithPassword();
    const line = await makeLine(user);
    await db.delete(accessTokens).where(eq(accessTokens.id, line[0].id));
    for (const { sha1 } of line) expect(await statusOf(sha1)).toBe(401);
  });

  it("is not made by a token that was deleted in the meantime", async () => {
    const user = await make.user();
    const [token] = await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));
    await db.delete(accessTokens).where(eq(accessTokens.userId, user.id));
    const actor = { ...ANONYMOUS, user, token };
    const ctx = { ...systemCtx({}, Date.now()), actor };
    const bindings = { refs: null, paths: null, packages: null };
    const input = { name: "late", scopes: ["all"], expiresAt: null, repositories: null, bindings };
    await expect(createAccessToken(ctx, user, input)).rejects.toMatchObject({
      kind: "unauthenticated",
    });
    expect(await db.select().from(accessTokens).where(eq(accessTokens.userId, user.id))).toEqual(
      [],
    );
    expect(await eventsIn(user)).toEqual([]);
  });

  it("is shown with its maker in the lists of each caller", async () => {
    const user = await make.userWithPassword();
    const line = await makeLine(user);
    const makers = [null, line[0].id, line[1].id];
    expect(line.map((token) => token.created_by_token_id)).toEqual(makers);
    for (const as of [user, await make.admin()]) {
      const { body } = await call("GET", `/users/${user.name}/tokens`, { as });
      const listed = new Map(body.map((token: { id: number }) => [token.id, token]));
      expect(line.map(({ id }) => listed.get(id))).toMatchObject(
        makers.map((id) => ({ created_by_token_id: id })),
      );
    }
  });

  it("never expires after its maker", async () => {
    const user = await make.userWithPassword();
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const headers = basic(user.name, user.password);
    const maker = await create(user, { headers }, { expires_at: inHours(1) });
    for (const fields of [{}, { expires_at: inHours(2) }]) {
      const json = { name: freshName("made"), scopes: ["all"], ...fields };
      const path = `/users/${user.name}/tokens`;
      expect((await call("POST", path, { token: maker.sha1, json })).status).toBe(403);
    }
  });
});

/** How a token may be bound, by the word of its refusals. */
const BINDINGS = {
  repositories: (repo: TestRepo) => ({ repos: [repo] }),
  refs: () => ({ refs: ["refs/heads/**"] }),
  paths: () => ({ paths: ["**"] }),
  packages: () => ({ packages: ["*/*/**"] }),
};
const BOUND_TO = Object.keys(BINDINGS) as (keyof typeof BINDINGS)[];

describe.each(BOUND_TO)("a stolen token that is bound to %s", (binding) => {
  async function makeBound() {
    const user = await make.user();
    const repo = await make.repo(user);
    const org = await make.org([user]);
    return { user, repo, org, token: await make.token(user, BINDINGS[binding](repo)) };
  }
  type Bound = Awaited<ReturnType<typeof makeBound>>;

  const WRITES: [string, string, (bound: Bound) => string, object?][] = [
    [
      "a token",
      "POST",
      ({ user }) => `/users/${user.name}/tokens`,
      { name: "x", scopes: ["read:user"] },
    ],
    ["an own token", "DELETE", ({ user }) => `/users/${user.name}/tokens/1`],
    ["an SSH key", "POST", () => "/user/keys", { title: "x", key: "ssh-ed25519 AAAA" }],
    ["an SSH key of the account", "DELETE", () => "/user/keys/1"],
    ["a GPG key", "POST", () => "/user/gpg_keys", { armored_public_key: "x" }],
    ["a GPG key of the account", "DELETE", () => "/user/gpg_keys/1"],
    [
      "the proof of a GPG key",
      "POST",
      () => "/user/gpg_key_verify",
      { key_id: "A", armored_signature: "x" },
    ],
    ["an e-mail address", "POST", () => "/user/emails", { emails: ["new@example.com"] }],
    ["an e-mail address of the account", "DELETE", () => "/user/emails", { emails: ["a@b.c"] }],
    ["the settings", "PATCH", () => "/user/settings", { full_name: "x" }],
    ["whom the account follows", "PUT", ({ org }) => `/user/following/${org.name}`],
    [
      "webhooks of the account",
      "POST",
      () => "/user/hooks",
      { type: "gitea", config: { url: "https://hooks.example/", content_type: "json" } },
    ],
    [
      "applications of the account",
      "POST",
      () => "/user/applications/oauth2",
      { name: "x", redirect_uris: ["https://app.example/"] },
    ],
    ["whom the account blocks", "PUT", ({ org }) => `/user/blocks/${org.name}`],
    [
      "rules of cleanup for packages",
      "POST",
      ({ user }) => `/packages/${user.name}/-/cleanup-rules`,
      { type: "npm", keep_count: 1 },
    ],
    ["an organization", "POST", () => "/orgs", { username: "x" }],
    ["a team", "POST", ({ org }) => `/orgs/${org.name}/teams`, { name: "x", units: ["repo.code"] }],
    [
      "rules for all repositories of an organization",
      "POST",
      ({ org }) => `/orgs/${org.name}/rulesets`,
      { name: "x", branch_patterns: ["*"] },
    ],
    [
      "a repository, by migration",
      "POST",
      () => "/repos/migrate",
      { clone_addr: "https://git.example/a/b.git", repo_name: "x" },
    ],
    ["a repository", "POST", () => "/user/repos", { name: "x" }],
    [
      "a repository of an organization",
      "POST",
      ({ org }) => `/orgs/${org.name}/repos`,
      { name: "x" },
    ],
    [
      "members of an organization",
      "PUT",
      ({ org, user }) => `/orgs/${org.name}/public_members/${user.name}`,
    ],
  ];

  it.each(WRITES)("does not change %s", async (_, method, pathOf, json) => {
    const bound = await makeBound();
    const tokensBefore = await db
      .select()
      .from(accessTokens)
      .where(eq(accessTokens.userId, bound.user.id));

    const { status, body, headers } = await call(method, pathOf(bound), {
      token: bound.token,
      json,
    });

    expect({ status, body }).toMatchObject({
      status: 403,
      body: {
        message: `token-${binding}: a token that is bound to ${binding} changes nothing else`,
      },
    });
    expect(headers.get("X-Edgeforge-Reason")).toBe(`token-${binding}`);
    expect(await eventsIn(bound.user)).toEqual([]);
    expect(
      await db.select().from(accessTokens).where(eq(accessTokens.userId, bound.user.id)),
    ).toEqual(tokensBefore);
  });

  it("creates no repository by a fork or by a push", async () => {
    const { user, token } = await makeBound();
    const source = await make.repo(await make.user());
    const into = { owner: user.name, name: freshName("pushed") };
    const path = `/repos/${source.owner}/${source.name}/forks`;
    const forked = await call("POST", path, { token, json: {} });
    const isHidden = binding === "repositories";
    expect(forked.status).toBe(isHidden ? 404 : 403);
    const { oid, pack } = makeCommit("pushed");
    expect((await push({ ...user, token }, into, oid, pack)).status).toBe(404);
    const owned = await db.select().from(repositories).where(eq(repositories.ownerId, user.id));
    expect(owned).toHaveLength(1);
  });

  it("has no rights over the whole service, though its user has", async () => {
    const admin = await make.admin();
    const repo = await make.repo(admin);
    const token = await make.token(admin, BINDINGS[binding](repo));
    expect((await call("GET", "/admin/users", { token })).status).toBe(403);
    expect((await call("GET", "/admin/users", { as: admin })).status).toBe(200);
    const headers = { Sudo: (await make.user()).name };
    expect((await call("GET", "/user", { token, headers })).status).toBe(403);
  });
});

describe("a stolen token that is bound to repositories", () => {
  it("still changes its own repository, and reads its account", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const token = await make.token(user, { repos: [repo] });
    const path = `/repos/${repo.owner}/${repo.name}`;
    const json = { description: "changed" };
    expect((await call("PATCH", path, { token, json })).status).toBe(200);
    expect((await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { token })).status).toBe(
      204,
    );
    expect((await call("GET", "/user", { token })).body.login).toBe(user.name);
  });
});
