import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { users } from "../../../src/db/schema/index.ts";
import { call, type Sending } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { ascending, readAll } from "../../support/list.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

const rename = async (user: { name: string }, name: string) => {
  const as = await make.admin();
  const json = { new_username: name };
  const { status } = await call("POST", `/admin/users/${user.name}/rename`, { as, json });
  expect(status).toBe(204);
};

describe("GET /users/{username}", () => {
  it("returns the fields of a user that each caller may see, in one round trip", async () => {
    const user = await make.user({
      fullName: "Ada L.",
      language: "pl-PL",
      loginName: "ada@source",
      loginSourceId: 3,
      lastLoginAt: 5000,
    });
    const path = `/users/${user.name.toUpperCase()}`;
    const hidden = {
      login_name: "",
      source_id: 0,
      language: "",
      is_admin: false,
      active: false,
      last_login: "1970-01-01T00:00:00Z",
    };

    const { answer, line } = await logged(() => call("GET", path));

    expect(line.d1Rounds).toBe(1);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        id: user.id,
        login: user.name,
        username: user.name,
        full_name: "Ada L.",
        email: `${user.lowerName}@noreply.forge.example`,
        avatar_url: `https://forge.example/avatars/${user.id}`,
        ...hidden,
      },
    });
    const seen = await call("GET", path, { as: await make.user() });
    expect(seen.body).toMatchObject({ email: user.email, ...hidden });
    for (const as of [user, await make.admin()]) {
      expect((await call("GET", path, { as })).body).toMatchObject({
        email: user.email,
        login_name: "ada@source",
        source_id: 3,
        language: "pl-PL",
        active: true,
        last_login: "1970-01-01T00:00:05Z",
      });
    }
  });

  // SECURITY: a hidden email address is shown only to its owner and to administrators.
  it("hides a hidden email address", async () => {
    const user = await make.user({ isEmailHidden: true });
    const emailFor = async (sending: Sending) =>
      (await call("GET", `/users/${user.name}`, sending)).body.email;
    const shown = `${user.lowerName}@noreply.forge.example`;
    expect(await emailFor({})).toBe(shown);
    expect(await emailFor({ as: await make.user() })).toBe(shown);
    expect(await emailFor({ as: user })).toBe(user.email);
    expect(await emailFor({ as: await make.admin() })).toBe(user.email);
    const token = await make.token(user, { scopes: "public-only,all" });
    expect(await emailFor({ token })).toBe(shown);
  });

  it("is not found for callers who may not see the user", async () => {
    const limited = await make.user({ visibility: "limited" });
    const shy = await make.user({ visibility: "private" });
    const stranger = await make.user();
    const restricted = await make.user({ isRestricted: true });
    const publicOnly = await make.token(shy, { scopes: "public-only,all" });
    const ask = async ({ name }: { name: string }, sending: Sending = {}) => {
      const { status, body } = await call("GET", `/users/${name}`, sending);
      return status === 404 ? [status, body] : status;
    };
    const gone = [404, ""];

    expect(await ask(limited)).toEqual(gone);
    expect(await ask(limited, { as: stranger })).toBe(200);
    expect(await ask(limited, { as: restricted })).toEqual(gone);
    expect(await ask(limited, { as: limited })).toBe(200);
    expect(await ask(shy)).toEqual(gone);
    expect(await ask(shy, { as: stranger })).toEqual(gone);
    expect(await ask(shy, { as: shy })).toBe(200);
    expect(await ask(shy, { as: await make.admin() })).toBe(200);
    expect(await ask(shy, { token: publicOnly })).toEqual(gone);
    expect(await ask({ name: freshName("none") })).toEqual(gone);
    expect(await ask({ name: "%00" })).toEqual(gone);
  });

  it("returns organizations too, since they share the namespace", async () => {
    const org = await make.org([await make.user()]);
    expect((await call("GET", `/users/${org.name}`)).body).toMatchObject({ id: org.id });
  });

  it("redirects a former name by 307, until another account takes it", async () => {
    const user = await make.user();
    const name = freshName("renamed");
    await rename(user, name);

    for (const rest of ["", "/repos?page=2"]) {
      const moved = await call("GET", `/users/${user.name.toUpperCase()}${rest}`);
      expect([moved.status, moved.headers.get("Location")]).toEqual([
        307,
        `https://forge.example/api/v1/users/${name}${rest}`,
      ]);
    }
    expect((await call("GET", `/users/${name}`)).body.id).toBe(user.id);

    const taker = await make.user();
    await rename(taker, user.name);
    expect((await call("GET", `/users/${user.name}`)).body.id).toBe(taker.id);
  });

  it("redirects to a repository of a renamed owner, by 307", async () => {
    const user = await make.user();
    const repo = await make.repo(user);
    const name = freshName("renamed");
    await rename(user, name);
    const moved = await call("GET", `/repos/${user.name}/${repo.name}/subscribers`);
    expect([moved.status, moved.headers.get("Location")]).toEqual([
      307,
      `https://forge.example/api/v1/repos/${name}/${repo.name}/subscribers`,
    ]);
    // The method stays, whatever is requested.
    const write = await call("PATCH", `/repos/${user.name}/${repo.name}`, { as: user, json: {} });
    expect(write.status).toBe(307);
  });

  // SECURITY: a redirect would reveal that its target exists, and its name.
  it("does not redirect to a user that the caller may not see", async () => {
    const user = await make.user({ visibility: "private" });
    await rename(user, freshName("renamed"));
    for (const sending of [{}, { as: await make.user() }]) {
      const answer = await call("GET", `/users/${user.name}`, sending);
      expect(answer).toMatchObject({ status: 404, body: "" });
      expect(answer.headers.get("Location")).toBeNull();
    }
    expect((await call("GET", `/users/${user.name}`, { as: user })).status).toBe(307);
  });

  // A user's name may equal another segment of the path.
  it("replaces the right segment of the path, whatever the name", async () => {
    const user = await make.user({ name: "users" });
    const name = freshName("renamed");
    await rename(user, name);
    const moved = await call("GET", "/users/users/repos");
    expect(moved.headers.get("Location")).toBe(`https://forge.example/api/v1/users/${name}/repos`);
  });
});

describe("GET /users/{username}/repos", () => {
  it("lists a user's repositories that the caller may see, oldest first", async () => {
    const user = await make.user();
    const friend = await make.user();
    const other = await make.repo(friend);
    await make.collaborator(other, user, 3);
    const [open, hidden, shared, last] = [
      await make.repo(user, { name: freshName("z") }),
      await make.repo(user, { isPrivate: true }),
      await make.repo(user, { isPrivate: true }),
      await make.repo(user, { name: freshName("a") }),
    ];
    await make.collaborator(shared, friend, 1);
    const see = async (sending: Sending = {}) => {
      const { ids, totals } = await readAll(`/users/${user.name}/repos`, sending, { limit: 2 });
      expect(totals).toEqual([ids.length]);
      return ids;
    };
    expect(await see({ as: user })).toEqual([open.id, hidden.id, shared.id, last.id]);
    expect(await see({ as: friend })).toEqual([open.id, shared.id, last.id]);
    expect(await see()).toEqual([open.id, last.id]);
    expect(await see({ token: await make.token(user, { scopes: "public-only,all" }) })).toEqual([
      open.id,
      last.id,
    ]);
    expect(await see({ token: await make.token(user, { repos: [hidden] }) })).toEqual([hidden.id]);
  });

  it("is not found for an unknown user", async () => {
    const shy = await make.user({ visibility: "private" });
    for (const name of [shy.name, freshName("none")]) {
      expect(await call("GET", `/users/${name}/repos`)).toMatchObject({ status: 404, body: "" });
    }
  });
});

describe("GET /user/repos", () => {
  it("lists repositories that the caller owns, collaborates on or reaches by a team, by owner and name", async () => {
    const user = await make.user();
    const other = await make.user();
    const org = await make.org([other]);
    const own = [
      await make.repo(user, { name: `b-${freshName("repo")}` }),
      await make.repo(user, { name: `A-${freshName("repo")}`, isPrivate: true }),
    ];
    const given = await make.repo(other, { isPrivate: true });
    await make.collaborator(given, user, 1);
    const byTeam = [await make.repo(org, { isPrivate: true }), await make.repo(org)];
    await make.member(org, await make.team(org, { access: 1, all: true }), user);
    const member = await make.user();
    await make.member(org, await make.team(org, { access: 0, all: true }), member);
    await make.repo(other);

    const { ids, totals } = await readAll("/user/repos", { as: user }, { limit: 2 });
    const { body } = await call("GET", "/user/repos", { as: user });

    expect(ascending(ids)).toEqual(ascending([...own, given, ...byTeam].map(({ id }) => id)));
    expect(totals).toEqual([5]);
    const names: string[] = body.map((each: { full_name: string }) => each.full_name.toLowerCase());
    expect(names).toEqual(names.toSorted());
    expect(body.find(({ id }: { id: number }) => id === given.id).permissions).toEqual({
      admin: false,
      push: false,
      pull: true,
    });
    // A team without granted units reaches no repository.
    expect((await readAll("/user/repos", { as: member })).ids).toEqual([]);
    const bound = await make.token(user, { repos: [given] });
    expect((await readAll("/user/repos", { token: bound })).ids).toEqual([given.id]);
    expect((await call("GET", "/user/repos")).status).toBe(401);
  });
});

describe("GET /users/search", () => {
  const search = async (query: Record<string, string>, sending: Sending = {}) => {
    const { ids, totals } = await readAll(`/users/search?${new URLSearchParams(query)}`, sending);
    expect(totals).toEqual([ids.length]);
    return ids;
  };

  // Other forges wrap the list in an object; the contract does not.
  it("returns a bare list of users, by name, in two round trips", async () => {
    const word = freshName("word");
    const [b, a] = [
      await make.user({ name: `b-${word}` }),
      await make.user({ name: `A-${word.toUpperCase()}` }),
    ];
    await make.org([], { name: `c-${word}` });
    const { answer, line } = await logged(() => call("GET", `/users/search?q=${word}`));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject([{ login: a.name }, { login: b.name }]);
    expect(answer.headers.get("X-Total-Count")).toBe("2");
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
  });

  it("matches a part of the login name or of the full name, in any case and alphabet", async () => {
    const tag = freshName("tag");
    // A unique prefix: for two characters, only a bounded number of matches is considered.
    const user = await make.user({ name: freshName("zq"), fullName: `Żaneta ${tag} Öberg` });
    for (const q of [user.name.slice(2), user.name.toUpperCase(), tag.toUpperCase()]) {
      expect(await search({ q })).toEqual([user.id]);
    }
    for (const q of ["żaneta", "ÖBERG"]) {
      expect(await search({ q })).toContain(user.id);
      expect(await search({ q, uid: String(user.id) })).toEqual([user.id]);
    }
    // Words too short for the index match the beginning of a name.
    expect(await search({ q: "zq" })).toContain(user.id);
    expect(await search({ q: freshName("none") })).toEqual([]);
  });

  // SECURITY: a search by parts of an address must not reveal what the responses hide.
  it("matches a part of an address that the caller sees in responses", async () => {
    const word = freshName("address");
    const [open, shy, mover] = [
      await make.user({ email: `open@${word}.example` }),
      await make.user({ email: `shy@${word}.example`, isEmailHidden: true }),
      await make.user({ email: `${freshName("mover")}@elsewhere.example` }),
    ] as [TestUser, TestUser, TestUser];
    const see = (sending?: Sending) => search({ q: `@${word.toUpperCase()}.ex` }, sending);
    const sorted = (...found: TestUser[]) =>
      found.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ id }) => id);
    expect(await see()).toEqual([]);
    expect(await see({ as: mover })).toEqual([open.id]);
    expect(await see({ as: shy })).toEqual(sorted(open, shy));
    expect(await see({ as: await make.admin() })).toEqual(sorted(open, shy));
    const token = await make.token(shy, { scopes: "public-only,all" });
    expect(await see({ token })).toEqual([]);
    expect(await search({ q: word, uid: String(shy.id) }, { as: mover })).toEqual([]);

    // The index follows the account.
    const email = `moved@${word}.example`;
    await db.update(users).set({ email }).where(eq(users.id, mover.id));
    await db.update(users).set({ isEmailHidden: true }).where(eq(users.id, open.id));
    expect(await see({ as: mover })).toEqual([mover.id]);
    await db.update(users).set({ isEmailHidden: false }).where(eq(users.id, shy.id));
    expect(await see({ as: mover })).toEqual(sorted(mover, shy));
  });

  it("filters by user id", async () => {
    const [user, other] = [await make.user(), await make.user()];
    expect(await search({ uid: String(user.id) })).toEqual([user.id]);
    expect(await search({ uid: String(user.id), q: user.name })).toEqual([user.id]);
    expect(await search({ uid: String(user.id), q: other.name })).toEqual([]);
    expect(await search({ uid: "999999999" })).toEqual([]);
  });

  it("finds and counts the users that the caller may see", async () => {
    const word = freshName("word");
    const [open, limited, shy] = [
      await make.user({ name: `a-${word}` }),
      await make.user({ name: `b-${word}`, visibility: "limited" }),
      await make.user({ name: `c-${word}`, visibility: "private" }),
    ] as [TestUser, TestUser, TestUser];
    const see = (sending?: Sending) => search({ q: word }, sending);
    expect(await see()).toEqual([open.id]);
    expect(await see({ as: await make.user() })).toEqual([open.id, limited.id]);
    expect(await see({ as: shy })).toEqual([open.id, limited.id, shy.id]);
    expect(await see({ as: await make.admin() })).toEqual([open.id, limited.id, shy.id]);
    expect(await see({ as: await make.user({ isRestricted: true }) })).toEqual([open.id]);
    const token = await make.token(shy, { scopes: "public-only,all" });
    expect(await see({ token })).toEqual([open.id]);
    expect(await search({ uid: String(shy.id) })).toEqual([]);
  });

  // SECURITY: the word is data for the full-text index, never a part of its query language.
  it.each([
    '"',
    '" OR *',
    "NEAR(a b)",
    "-",
    "***",
    "name:abc",
    "abc\u0000",
    "'''",
    "%%%",
    "🐢🐢🐢",
  ])("treats %j as text only", async (q) => {
    const answer = await call("GET", `/users/search?${new URLSearchParams({ q })}`);
    expect(answer).toMatchObject({ status: 200, body: [] });
  });

  it("returns full pages, with each user once", async () => {
    const word = freshName("word");
    const found = [];
    for (let n = 0; n < 5; n += 1) found.push(await make.user({ name: `${word}-${n}` }));
    const { ids, pages, totals } = await readAll(`/users/search?q=${word}`, {}, { limit: 2 });
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(ids).toEqual(found.map(({ id }) => id));
    expect(totals).toEqual([5]);
    const ghost = await call("GET", "/users/search?uid=-1");
    expect(ghost).toMatchObject({ status: 200, body: [{ id: -1, login: "Ghost" }] });
    expect(ghost.headers.get("X-Total-Count")).toBe("1");
    expect((await call("GET", "/users/search?uid=-1&page=2")).body).toEqual([]);
    expect((await call("GET", "/users/search?uid=-2")).body).toEqual([]);
    expect((await call("GET", `/users/search?q=${"x".repeat(256)}`)).status).toBe(422);
    const token = await make.token(await make.user(), { scopes: "read:repository" });
    expect((await call("GET", "/users/search", { token })).status).toBe(403);
  });
});
