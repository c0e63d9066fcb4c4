import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { hashSecret } from "../../../src/auth/secret.ts";
import { accessTokens, events, repositories, type User } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";

const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();
const tokensOf = (user: { id: number }) =>
  db.select().from(accessTokens).where(eq(accessTokens.userId, user.id));

/** Requests a token for `user`, as that user unless a token is passed. */
const create = (user: TestUser, json: unknown, token = user.token) =>
  call("POST", `/users/${user.name}/tokens`, { token, json });

/** How the forms of patterns are worded. */
const FORMS = {
  refs: /^\[refs\]: must be full names of refs, .*, unlike "/,
  paths: /^\[paths\]: must be paths from the root of the repository, .*, unlike "/,
  packages: /^\[packages\]: must be packages of the form owner\/type\/name, .*, unlike "/,
};

describe("POST /users/{username}/tokens", () => {
  it("returns the secret once, stores its hash, and records an event", async () => {
    const user = await make.user();
    const name = freshName("laptop");

    const { status, body } = await create(user, { name, scopes: ["write:issue", "read:user"] });

    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        name,
        sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
        token_last_eight: body.sha1.slice(-8),
        scopes: ["write:issue", "read:user"],
        last_used_at: null,
        expires_at: null,
        repositories: null,
        refs: null,
        paths: null,
        packages: null,
      },
    });
    const [row] = await db.select().from(accessTokens).where(eq(accessTokens.id, body.id));
    expect(row).toMatchObject({
      secretHash: await hashSecret(body.sha1),
      scopes: "write:issue,read:user",
    });
    expect(JSON.stringify(row)).not.toContain(body.sha1);
    const announced = await db
      .select()
      .from(events)
      .where(and(eq(events.ownerId, user.id), eq(events.type, "access_token.created")));
    expect(announced).toMatchObject([{ payload: { name } }]);
    expect(JSON.stringify(announced)).not.toContain(body.sha1);
    const listed = await call("GET", `/users/${user.name}/tokens`, { as: user });
    expect(listed.body[0]).toEqual({ ...body, sha1: "" });
    expect(await call("GET", "/user", { token: body.sha1 })).toMatchObject({ status: 200 });
  });

  it.each([
    [["read:user", "read:user", ""], ["read:user"]],
    [
      ["write:user", "read:issue", "read:admin"],
      ["read:admin", "read:issue", "write:user"],
    ],
    [["read:user", "write:user"], ["write:user"]],
    [
      ["all", "public-only"],
      ["public-only", "all"],
    ],
    [
      "user repository issue package organization notification misc admin activitypub"
        .split(" ")
        .map((category) => `write:${category}`),
      ["all"],
    ],
  ])("normalises the scopes %j", async (scopes, stored) => {
    const user = await make.user();
    const { status, body } = await create(user, { name: "n", scopes });
    expect({ status, scopes: body.scopes }).toEqual({ status: 201, scopes: stored });
  });

  it.each([
    [
      "an unknown scope",
      { name: "n", scopes: ["read:user", "repo"] },
      400,
      /invalid access token scope: repo$/,
    ],
    ["no scopes", { name: "n" }, 400, /must have a scope/],
    ["empty scopes", { name: "n", scopes: [] }, 400, /must have a scope/],
    ["nothing but empty items", { name: "n", scopes: [""] }, 400, /must have a scope/],
    ["nothing but public-only", { name: "n", scopes: ["public-only"] }, 400, /must have a scope/],
    ["no name", { scopes: ["all"] }, 422, /^\[name\]: is required$/],
    ["an empty name", { name: "", scopes: ["all"] }, 422, /^\[name\]: must not be empty$/],
    ["a name of null", { name: null, scopes: ["all"] }, 422, /^\[name\]/],
    [
      "a long name",
      { name: "n".repeat(256), scopes: ["all"] },
      422,
      /^\[name\]: must have at most 255 characters$/,
    ],
    ["scopes that are no list", { name: "n", scopes: "all" }, 422, /^\[scopes\]/],
    ["a scope that is no text", { name: "n", scopes: [1] }, 422, /^\[scopes/],
    ["a time in the past", { name: "n", scopes: ["all"], expires_at: inHours(-1) }, 422, /future/],
    [
      "a time that is none",
      { name: "n", scopes: ["all"], expires_at: "tomorrow" },
      422,
      /RFC 3339/,
    ],
    [
      "a time without a zone",
      { name: "n", scopes: ["all"], expires_at: "2999-01-01T00:00:00" },
      422,
      /RFC 3339/,
    ],
    [
      "a day that is none",
      { name: "n", scopes: ["all"], expires_at: "2999-02-30T00:00:00Z" },
      422,
      /RFC 3339/,
    ],
    [
      "a time of a wrong type",
      { name: "n", scopes: ["all"], expires_at: 1e12 },
      422,
      /must be a string/,
    ],
    [
      "no repository in a list",
      { name: "n", scopes: ["all"], repositories: [] },
      422,
      /^\[repositories\]/,
    ],
    [
      "a repository without an owner",
      { name: "n", scopes: ["all"], repositories: ["x"] },
      422,
      /^\[repositories/,
    ],
    [
      "a repository of nobody",
      { name: "n", scopes: ["all"], repositories: ["no/body"] },
      422,
      /must name repositories that exist/,
    ],
    [
      "no ref in a list",
      { name: "n", scopes: ["all"], refs: [] },
      422,
      /^\[refs\]: must not be empty$/,
    ],
    [
      "more patterns than a token may have",
      { name: "n", scopes: ["all"], paths: Array.from({ length: 51 }, () => "a") },
      422,
      /^\[paths\]: must have at most 50 items$/,
    ],
    [
      "a long pattern",
      { name: "n", scopes: ["all"], paths: ["a".repeat(256)] },
      422,
      /^\[paths.*\]: must have at most 255 characters$/,
    ],
    ["the short name of a ref", { name: "n", scopes: ["all"], refs: ["main"] }, 422, FORMS.refs],
    [
      "a pattern of refs that is none",
      { name: "n", scopes: ["all"], refs: ["refs/heads/[a"] },
      422,
      FORMS.refs,
    ],
    [
      "a path from the root of a disk",
      { name: "n", scopes: ["all"], paths: ["a", "/etc"] },
      422,
      FORMS.paths,
    ],
    ["a directory", { name: "n", scopes: ["all"], paths: ["docs/"] }, 422, FORMS.paths],
    [
      "a pattern of paths that is none",
      { name: "n", scopes: ["all"], paths: ["a\\"] },
      422,
      FORMS.paths,
    ],
    [
      "a package without an owner",
      { name: "n", scopes: ["all"], packages: ["npm/x"] },
      422,
      FORMS.packages,
    ],
  ])("refuses %s, and stores nothing", async (_, json, status, message) => {
    const user = await make.user();
    expect(await create(user, json)).toMatchObject({
      status,
      body: { message: expect.stringMatching(message), url: "https://forge.example/api/swagger" },
    });
    expect(await tokensOf(user)).toHaveLength(1);
  });

  it("refuses a name that the user already uses, and allows it to other users", async () => {
    const user = await make.user();
    const other = await make.user();
    expect(await create(user, { name: "ci", scopes: ["all"] })).toMatchObject({ status: 201 });
    expect(await create(user, { name: "ci", scopes: ["read:user"] })).toMatchObject({
      status: 400,
      body: { message: "access token name has been used already" },
    });
    expect(await create(other, { name: "ci", scopes: ["all"] })).toMatchObject({ status: 201 });
    expect(await tokensOf(user)).toHaveLength(2);
  });

  it("is allowed to the user and to administrators", async () => {
    const user = await make.user();
    const other = await make.user();
    const admin = await make.admin();
    const json = { name: "n", scopes: ["read:user"] };

    expect(await create(user, json, other.token)).toMatchObject({ status: 403 });
    expect(await call("POST", `/users/${user.name}/tokens`, { json })).toMatchObject({
      status: 401,
    });
    expect(await create({ ...user, name: "nobody-here" }, json)).toMatchObject({
      status: 404,
      body: "",
    });
    expect(await tokensOf(user)).toHaveLength(1);

    const made = await create(user, json, admin.token);
    expect(made.status).toBe(201);
    expect((await call("GET", "/user", { token: made.body.sha1 })).body.login).toBe(user.name);
  });
});

describe("the tokens of an organization", () => {
  it("are none, for administrators of the site either", async () => {
    const [admin, owner] = [await make.admin(), await make.user()];
    const org = await make.org([owner]);
    const path = `/users/${org.name}/tokens`;
    const basic = { headers: { Authorization: `Basic ${btoa(`${admin.name}:${admin.token}`)}` } };
    for (const [method, at, json] of [
      ["POST", path, { name: "a", scopes: ["all"] }],
      ["GET", path, undefined],
      ["DELETE", `${path}/1`, undefined],
    ] as const) {
      const { status } = await call(method, at, { ...basic, ...(json && { json }) });
      expect(status, method).toBe(404);
      expect((await call(method, at, { as: owner, ...(json && { json }) })).status).toBe(403);
    }
  });
});

describe("GET /users/{username}/tokens", () => {
  it("lists the newest first, without secrets, in full unless a page is requested", async () => {
    const user = await make.user();
    for (const name of ["one", "two", "three"]) await create(user, { name, scopes: ["all"] });

    const all = await call("GET", `/users/${user.name}/tokens?limit=1`, { as: user });
    expect(all.body.map((token: { name: string }) => token.name).slice(0, 3)).toEqual([
      "three",
      "two",
      "one",
    ]);
    expect(all.body.map((token: { sha1: string }) => token.sha1)).toEqual(["", "", "", ""]);
    expect(all.headers.get("X-Total-Count")).toBe("4");
    const page = await call("GET", `/users/${user.name}/tokens?page=2&limit=1`, { as: user });
    expect(page.body).toMatchObject([{ name: "two" }]);
  });

  it("is allowed to the user and to administrators", async () => {
    const user = await make.user();
    const path = `/users/${user.name}/tokens`;
    expect(await call("GET", path, { as: await make.user() })).toMatchObject({ status: 403 });
    expect(await call("GET", path)).toMatchObject({ status: 401 });
    expect(await call("GET", path, { as: await make.admin() })).toMatchObject({ status: 200 });
  });

  // SECURITY: the list of a token's repositories may contain private ones.
  it("lists only repositories that the caller's credential reaches", async () => {
    const user = await make.user();
    const open = await make.repo(user);
    const hidden = await make.repo(user, { isPrivate: true });
    await make.token(user, { repos: [open, hidden] });
    const publicOnly = await make.token(user, { scopes: "public-only,all" });
    const bound = await make.token(user, { repos: [open] });

    for (const token of [publicOnly, bound]) {
      const { body } = await call("GET", `/users/${user.name}/tokens`, { token });
      expect(JSON.stringify(body)).toContain(open.name);
      expect(JSON.stringify(body)).not.toContain(hidden.name);
    }
    const { body } = await call("GET", `/users/${user.name}/tokens`, { as: user });
    expect(JSON.stringify(body)).toContain(hidden.name);
  });
});

describe("DELETE /users/{username}/tokens/{token}", () => {
  it("deletes by id and by name, and the secret is refused from then on", async () => {
    const user = await make.user();
    for (const by of ["id", "name"] as const) {
      const made = await create(user, { name: freshName("n"), scopes: ["all"] });
      const path = `/users/${user.name}/tokens/${made.body[by]}`;
      expect(await call("DELETE", path, { as: user })).toMatchObject({ status: 204, body: "" });
      expect(await call("GET", "/user", { token: made.body.sha1 })).toMatchObject({ status: 401 });
      expect(await call("DELETE", path, { as: user })).toMatchObject({ status: 404, body: "" });
    }
    expect(await tokensOf(user)).toHaveLength(1);
  });

  it("can delete the token of the request itself", async () => {
    const user = await make.user();
    const [own] = await tokensOf(user);
    expect(
      await call("DELETE", `/users/${user.name}/tokens/${own?.id}`, { as: user }),
    ).toMatchObject({ status: 204 });
    expect(await call("GET", "/user", { as: user })).toMatchObject({ status: 401 });
  });

  it("does not find or delete another user's token, by id or by name", async () => {
    const user = await make.user();
    const victim = await make.user();
    const [token] = await tokensOf(victim);
    for (const key of [token?.id, token?.name, 0, -1, "9".repeat(16), "nothing"]) {
      const own = await call("DELETE", `/users/${user.name}/tokens/${key}`, { as: user });
      expect(own, String(key)).toMatchObject({ status: 404, body: "" });
      const foreign = await call("DELETE", `/users/${victim.name}/tokens/${key}`, { as: user });
      expect(foreign, String(key)).toMatchObject({ status: 403 });
    }
    expect(await tokensOf(victim)).toHaveLength(1);
  });
});

describe("an access token", () => {
  it("expires at its time", async () => {
    const user = await make.user();
    const made = await create(user, { name: "short", scopes: ["all"], expires_at: inHours(1) });
    expect(await call("GET", "/user", { token: made.body.sha1 })).toMatchObject({ status: 200 });

    await db
      .update(accessTokens)
      .set({ expiresAt: Date.now() - 1 })
      .where(eq(accessTokens.id, made.body.id));
    for (const path of ["/user", "/version", `/users/${user.name}`]) {
      expect(await call("GET", path, { token: made.body.sha1 }), path).toMatchObject({
        status: 401,
        body: { message: "the access token has expired" },
      });
    }
  });

  it("has its last use recorded at most once a minute", async () => {
    const user = await make.user();
    const made = await create(user, { name: "noted", scopes: ["all"] });
    const lastUsedAt = async () =>
      (await tokensOf(user)).find((token) => token.id === made.body.id)?.lastUsedAt;

    expect(await lastUsedAt()).toBeNull();
    const startedAt = Date.now();
    await call("GET", "/user", { token: made.body.sha1 });
    await expect.poll(lastUsedAt).toBeGreaterThanOrEqual(startedAt);
    const first = await lastUsedAt();
    await call("GET", "/user", { token: made.body.sha1 });
    expect(await lastUsedAt()).toBe(first);
  });
});

/** Token properties, for tests of whether one token may create another. */
interface Width {
  scopes: string[];
  expires_at?: string;
}

describe("a token that creates tokens", () => {
  // SECURITY: a stolen narrow token must not be exchangeable for a wider one.
  it("creates none with more scopes or a later expiry", async () => {
    const user = await make.user();
    const narrow = { scopes: "write:user,read:repository" };
    const hours = (count: number) => Date.now() + count * HOUR_MS;

    const cases: [string, { scopes?: string; expiresAt?: number }, Width, number][] = [
      ["equal", narrow, { scopes: ["write:user", "read:repository"] }, 201],
      ["less", narrow, { scopes: ["read:user"] }, 201],
      ["public-only of its own", narrow, { scopes: ["public-only", "read:user"] }, 201],
      ["another category", narrow, { scopes: ["read:user", "read:issue"] }, 403],
      ["a higher level", narrow, { scopes: ["write:repository"] }, 403],
      ["all", narrow, { scopes: ["all"] }, 403],
      ["not public-only", { scopes: "public-only,all" }, { scopes: ["read:user"] }, 403],
      ["public-only too", { scopes: "public-only,all" }, { scopes: ["public-only", "all"] }, 201],
      ["longer", { expiresAt: hours(1) }, { scopes: ["all"], expires_at: inHours(2) }, 403],
      ["for ever", { expiresAt: hours(1) }, { scopes: ["all"] }, 403],
      ["shorter", { expiresAt: hours(2) }, { scopes: ["all"], expires_at: inHours(1) }, 201],
    ];
    for (const [what, maker, input, status] of cases) {
      const token = await make.token(user, maker);
      const before = (await tokensOf(user)).length;
      const answer = await create(user, { name: freshName("made"), ...input }, token);
      expect(answer, what).toMatchObject({ status });
      expect((await tokensOf(user)).length - before, what).toBe(status === 201 ? 1 : 0);
    }
  });
});

describe("a token bound to refs, paths and packages", () => {
  it("is returned and listed with its patterns", async () => {
    const user = await make.user();
    const patterns = {
      refs: ["refs/heads/docs/*", "refs/tags/v[0-9]*"],
      paths: ["docs/**", "*.md"],
      packages: [`${user.name}/npm/*`],
    };
    const made = await create(user, { name: "narrow", scopes: ["all"], ...patterns });
    expect(made).toMatchObject({ status: 201, body: { ...patterns, repositories: null } });
    const listed = await call("GET", `/users/${user.name}/tokens`, { as: user });
    expect(listed.body[0]).toMatchObject({ name: "narrow", ...patterns });
    // What it reads stays with its scopes and repositories.
    const repo = await make.repo(user, { isPrivate: true });
    const path = `/repos/${repo.owner}/${repo.name}`;
    expect((await call("GET", path, { token: made.body.sha1 })).status).toBe(200);
  });
});

describe("a token bound to repositories", () => {
  const world = async () => {
    const user = await make.user();
    const mine = await make.repo(user);
    const bound = await make.repo(user, { isPrivate: true });
    const hidden = await make.repo(user, { isPrivate: true });
    const foreign = await make.repo(await make.user());
    const made = await create(user, {
      name: "bound",
      scopes: ["all"],
      repositories: [`${bound.owner.toUpperCase()}/${bound.name}`, `${bound.owner}/${bound.name}`],
    });
    return { user, mine, bound, hidden, foreign, made, token: made.body.sha1 as string };
  };

  it("is returned with the full names of its repositories", async () => {
    const { made, user, bound } = await world();
    const names = [`${bound.owner}/${bound.name}`];
    expect(made).toMatchObject({ status: 201, body: { repositories: names } });
    const listed = await call("GET", `/users/${user.name}/tokens`, { as: user });
    expect(listed.body[0]).toMatchObject({ name: "bound", repositories: names });
  });

  it("can't be bound to repositories that its user may not see", async () => {
    const { user } = await world();
    const stranger = await make.repo(await make.user(), { isPrivate: true });
    const absent = { name: "n", scopes: ["all"], repositories: [`${stranger.owner}/no-such-repo`] };
    const secret = { ...absent, repositories: [`${stranger.owner}/${stranger.name}`] };
    const answers = [await create(user, absent), await create(user, secret)];
    expect(answers.map(({ status }) => status)).toEqual([422, 422]);
    expect(answers[1]?.body.message.replace(stranger.name, "no-such-repo")).toBe(
      answers[0]?.body.message,
    );
  });

  it("reaches its own repository and no other, whatever its owner or visibility", async () => {
    const { token, user, mine, bound, hidden, foreign } = await world();
    const paths = (repo: { owner: string; name: string; id: number }) => [
      ["GET", `/repos/${repo.owner}/${repo.name}`],
      ["GET", `/repositories/${repo.id}`],
      ["GET", `/repos/${repo.owner}/${repo.name}/stargazers`],
      ["GET", `/repos/${repo.owner}/${repo.name}/subscribers`],
      ["PUT", `/repos/${repo.owner}/${repo.name}/subscription`],
      ["GET", `/repos/${repo.owner}/${repo.name}/subscription`],
      ["PUT", `/user/starred/${repo.owner}/${repo.name}`],
      ["GET", `/user/starred/${repo.owner}/${repo.name}`],
      ["GET", `/repos/${repo.owner}/${repo.name}/keys`],
      ["DELETE", `/repos/${repo.owner}/${repo.name}/subscription`],
      ["DELETE", `/user/starred/${repo.owner}/${repo.name}`],
      ["PATCH", `/repos/${repo.owner}/${repo.name}`],
      ["DELETE", `/repos/${repo.owner}/${repo.name}`],
    ];
    for (const repo of [mine, hidden, foreign]) {
      for (const [method = "", path = ""] of paths(repo)) {
        expect(await call(method, path, { token }), `${method} ${path}`).toMatchObject({
          status: 404,
          body: "",
        });
      }
    }
    expect(
      await db.select().from(repositories).where(eq(repositories.ownerId, user.id)),
    ).toHaveLength(3);
    for (const [method = "", path = ""] of paths(bound)) {
      const { status } = await call(method, path, { token });
      expect(status, `${method} ${path}`).toBeLessThan(300);
    }
  });

  it("finds only its own repositories in lists and searches", async () => {
    const { token, user, mine, bound, hidden, foreign } = await world();
    for (const repo of [mine, bound, hidden, foreign]) {
      await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: user });
      await call("PUT", `/repos/${repo.owner}/${repo.name}/subscription`, { as: user });
    }
    const lists = [
      "/user/repos",
      "/user/starred",
      "/user/subscriptions",
      `/users/${user.name}/repos`,
      `/users/${user.name}/starred`,
      `/users/${user.name}/subscriptions`,
    ];
    for (const path of lists) {
      const { status, body, headers } = await call("GET", path, { token });
      expect({ status, ids: body.map(({ id }: User) => id) }, path).toEqual({
        status: 200,
        ids: [bound.id],
      });
      expect(headers.get("X-Total-Count"), path).toBe("1");
    }
    const searches = [
      "",
      `&uid=${user.id}`,
      `&starredBy=${user.id}`,
      "&sort=updated",
      "&private=true",
    ];
    for (const search of searches) {
      const { body, headers } = await call("GET", `/repos/search?q=${search}`, { token });
      expect(
        body.data.map(({ id }: User) => id),
        search,
      ).toEqual([bound.id]);
      expect(headers.get("X-Total-Count"), search).toBe("1");
    }
    for (const repo of [mine, hidden, foreign]) {
      const { body } = await call("GET", `/repos/search?q=${repo.name}`, { token });
      expect(body.data, repo.name).toEqual([]);
    }
  });

  it("can't create a repository, for its user or for an organization", async () => {
    const { token, user } = await world();
    const org = await make.org([user]);
    for (const path of ["/user/repos", `/orgs/${org.name}/repos`, `/org/${org.name}/repos`]) {
      const name = freshName("made");
      expect(await call("POST", path, { token, json: { name } }), path).toMatchObject({
        status: 403,
      });
      expect(await db.select().from(repositories).where(eq(repositories.name, name))).toEqual([]);
    }
  });

  // SECURITY: an empty list of repositories must not be treated as an unbound token.
  it("reaches nothing after its repository is deleted, not even a new one of that name", async () => {
    const { token, user, bound } = await world();
    const path = `/repos/${bound.owner}/${bound.name}`;
    expect(await call("DELETE", path, { as: user })).toMatchObject({ status: 204 });
    expect(await call("GET", path, { token })).toMatchObject({ status: 404 });
    await make.repo(user, { name: bound.name });
    expect(await call("GET", path, { token })).toMatchObject({ status: 404 });
    expect((await call("GET", "/user/repos", { token })).body).toEqual([]);
    expect((await call("GET", "/repos/search", { token })).body.data).toEqual([]);
    const listed = await call("GET", `/users/${user.name}/tokens`, { as: user });
    expect(listed.body[0]).toMatchObject({ name: "bound", repositories: [] });
  });
});
