import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { collaborations, stars, watches } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy, typesOf } from "../../support/events.ts";
import { ascending, readAll } from "../../support/list.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

const markOf = (repo: TestRepo) => `/user/starred/${repo.owner}/${repo.name}`;
const starsOf = (repo: TestRepo) =>
  db.select({ userId: stars.userId }).from(stars).where(eq(stars.repoId, repo.id));

describe("PUT and DELETE /user/starred/{owner}/{repo}", () => {
  it("stars and unstars once for repeated requests, with one event each", async () => {
    const user = await make.user();
    const repo = await make.repo(await make.user());
    const path = markOf(repo);

    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404, body: "" });
    const { answer, line } = await logged(() => call("PUT", path, { as: user }));
    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect(await call("PUT", path, { as: user })).toMatchObject({ status: 204 });
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 204, body: "" });
    expect((await call("GET", `/repositories/${repo.id}`)).body.stars_count).toBe(1);
    for (let time = 0; time < 2; time += 1) {
      expect(await call("DELETE", path, { as: user })).toMatchObject({ status: 204, body: "" });
    }
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404 });
    expect((await call("GET", `/repositories/${repo.id}`)).body.stars_count).toBe(0);
    expect(await eventsBy(user)).toMatchObject([
      { type: "star.created", repoId: repo.id, ownerId: repo.ownerId },
      { type: "star.deleted", repoId: repo.id, ownerId: repo.ownerId },
    ]);
  });

  it("requires a signed-in user with the write scope who may see the repository", async () => {
    const user = await make.user();
    const owner = await make.user();
    const [open, hidden] = [await make.repo(owner), await make.repo(owner, { isPrivate: true })];

    for (const method of ["GET", "PUT", "DELETE"]) {
      expect((await call(method, markOf(open))).status).toBe(401);
      expect(await call(method, markOf(hidden), { as: user })).toMatchObject({
        status: 404,
        body: "",
      });
      expect(await call(method, `/user/starred/${owner.name}/none`, { as: user })).toMatchObject({
        status: 404,
        body: "",
      });
    }
    for (const scopes of ["read:user,read:repository", "write:user", "write:repository"]) {
      const token = await make.token(user, { scopes });
      expect((await call("PUT", markOf(open), { token })).status).toBe(403);
      expect((await call("DELETE", markOf(open), { token })).status).toBe(403);
    }

    expect([...(await starsOf(open)), ...(await starsOf(hidden))]).toEqual([]);
    expect(await eventsBy(user)).toEqual([]);
  });
});

describe.each([
  ["starred", markOf, "star"],
  ["subscriptions", (repo: TestRepo) => `/repos/${repo.owner}/${repo.name}/subscription`, "watch"],
])("the list of %s", (list, pathOf, noun) => {
  const put = (repo: TestRepo, as: TestUser) => call("PUT", pathOf(repo), { as });

  // Totals use the copied visibility, and the order uses the time of creation.
  it("stores the time of creation and the repository's visibility", async () => {
    const owner = await make.user();
    const before = Date.now();
    for (const isPrivate of [false, true]) {
      const repo = await make.repo(owner, { isPrivate });
      await put(repo, owner);
      const table = list === "starred" ? stars : watches;
      const [row] = await db.select().from(table).where(eq(table.repoId, repo.id));
      expect(row).toMatchObject({
        userId: owner.id,
        visibility: isPrivate ? "private" : "public",
        createdAt: expect.any(Number),
      });
      expect(row?.createdAt).toBeGreaterThanOrEqual(before);
    }
  });

  it("has full pages, with each repository once", async () => {
    const user = await make.user();
    const owner = await make.user();
    const repos = [];
    for (let n = 0; n < 7; n += 1) repos.push(await make.repo(owner));
    for (const repo of repos.toReversed()) await put(repo, user);

    const { ids, pages, totals } = await readAll(`/user/${list}`, { as: user }, { limit: 3 });

    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(totals).toEqual([7]);
    expect(ascending(ids)).toEqual(repos.map(({ id }) => id));
    const beyond = await call("GET", `/user/${list}?page=9`, { as: user });
    expect([beyond.status, beyond.body, beyond.headers.get("X-Total-Count")]).toEqual([
      200,
      [],
      "7",
    ]);
  });

  // SECURITY: a star or watch would reveal a private repository, and a total their number.
  it("lists and counts the repositories that each viewer may see", async () => {
    const user = await make.user();
    const owner = await make.user();
    const limited = await make.user({ visibility: "limited" });
    const org = await make.org([owner], { visibility: "private" });
    const member = await make.user();
    const team = await make.team(org, { access: 1, all: true });
    for (const each of [user, member]) await make.member(org, team, each);
    const repos = {
      open: await make.repo(owner),
      hidden: await make.repo(owner, { isPrivate: true }),
      shared: await make.repo(owner, { isPrivate: true }),
      limited: await make.repo(limited),
      internal: await make.repo(org),
    };
    const friend = await make.user();
    await make.collaborator(repos.hidden, user, 1);
    await make.collaborator(repos.shared, user, 1);
    await make.collaborator(repos.shared, friend, 1);
    for (const repo of Object.values(repos)) await put(repo, user);

    const see = async (
      sending: { as?: TestUser; token?: string },
      path = `/users/${user.name}`,
    ) => {
      const { ids, totals } = await readAll(`${path}/${list}`, sending, { limit: 2 });
      const names = Object.entries(repos).filter(([, { id }]) => ids.includes(id));
      expect(totals).toEqual([names.length]);
      expect(ids).toHaveLength(names.length);
      return names.map(([name]) => name);
    };
    const everything = ["open", "hidden", "shared", "limited", "internal"];

    expect(await see({ as: user }, "/user")).toEqual(everything);
    expect(await see({ as: user })).toEqual(everything);
    expect(await see({ as: await make.admin() })).toEqual(everything);
    expect(await see({ as: await make.user() })).toEqual(["open", "limited"]);
    expect(await see({ as: friend })).toEqual(["open", "shared", "limited"]);
    expect(await see({ as: member })).toEqual(["open", "limited", "internal"]);
    expect(await see({ as: await make.user({ isRestricted: true }) })).toEqual([]);
    const publicOnly = await make.token(user, { scopes: "public-only,all" });
    expect(await see({ token: publicOnly }, "/user")).toEqual(["open"]);
    const bound = await make.token(user, { repos: [repos.shared] });
    expect(await see({ token: bound }, "/user")).toEqual(["shared"]);
    expect((await call("GET", `/users/${user.name}/${list}`)).status).toBe(401);

    // A user who loses access keeps the star or watch, but it is not listed.
    await db
      .delete(collaborations)
      .where(and(eq(collaborations.repoId, repos.hidden.id), eq(collaborations.userId, user.id)));
    expect(await see({ as: user }, "/user")).toEqual(["open", "shared", "limited", "internal"]);
  });

  it("is not found for an unknown user, and is empty for a new one", async () => {
    const user = await make.user();
    const shy = await make.user({ visibility: "private" });
    expect(await call("GET", `/user/${list}`, { as: user })).toMatchObject({
      status: 200,
      body: [],
    });
    for (const name of [shy.name, "no-such-user"]) {
      expect(await call("GET", `/users/${name}/${list}`, { as: user })).toMatchObject({
        status: 404,
        body: "",
      });
    }
    expect((await call("GET", `/user/${list}`)).status).toBe(401);
    const token = await make.token(user, { scopes: "read:repository" });
    expect((await call("GET", `/user/${list}`, { token })).status).toBe(403);
  });

  it(`records one event of a ${noun} for ten concurrent requests`, async () => {
    const user = await make.user();
    const repo = await make.repo(await make.user());
    await Promise.all(Array.from({ length: 10 }, () => put(repo, user)));
    expect(typesOf(await eventsBy(user))).toEqual([`${noun}.created`]);
    expect((await readAll(`/user/${list}`, { as: user })).totals).toEqual([1]);
  });
});

it("lists stars by time of creation, and by repository, newest first, for equal times", async () => {
  const user = await make.user();
  const owner = await make.user();
  const [a, b, c] = [await make.repo(owner), await make.repo(owner), await make.repo(owner)];
  for (const [repo, createdAt] of [
    [a, 30],
    [b, 10],
    [c, 10],
  ] as const) {
    await db
      .insert(stars)
      .values({ userId: user.id, repoId: repo.id, visibility: "public", createdAt });
  }
  expect((await readAll("/user/starred", { as: user })).ids).toEqual([a.id, c.id, b.id]);
  expect((await readAll("/user/starred", { as: user }, { limit: 1 })).ids).toEqual([
    a.id,
    c.id,
    b.id,
  ]);
});
