import { eq, or } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { follows, users } from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy, typesOf } from "../../support/events.ts";
import { readAll } from "../../support/list.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

const followsOf = ({ id }: { id: number }) =>
  db
    .select()
    .from(follows)
    .where(or(eq(follows.followerId, id), eq(follows.followedId, id)));

describe("PUT and DELETE /user/following/{username}", () => {
  it("follows and unfollows once for repeated requests, with one event each", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const path = `/user/following/${other.name.toUpperCase()}`;

    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404, body: "" });
    const { answer, line } = await logged(() => call("PUT", path, { as: user }));
    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    await Promise.all(Array.from({ length: 10 }, () => call("PUT", path, { as: user })));
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 204, body: "" });
    expect((await call("GET", `/users/${other.name}`)).body.followers_count).toBe(1);
    expect((await call("GET", "/user", { as: user })).body.following_count).toBe(1);

    await Promise.all(Array.from({ length: 10 }, () => call("DELETE", path, { as: user })));
    expect(await call("DELETE", path, { as: user })).toMatchObject({ status: 204, body: "" });
    expect((await call("GET", path, { as: user })).status).toBe(404);
    expect((await call("GET", `/users/${other.name}`)).body.followers_count).toBe(0);
    expect(await eventsBy(user)).toMatchObject([
      { type: "follow.created", ownerId: other.id, repoId: null },
      { type: "follow.deleted", ownerId: other.id },
    ]);
  });

  // Gitea clients expect no refusal here.
  it("accepts a request to follow oneself, and does nothing", async () => {
    const user = await make.user();
    for (const name of [user.name, ":username"]) {
      expect((await call("PUT", `/user/following/${name}`, { as: user })).status).toBe(204);
      expect((await call("GET", `/user/following/${name}`, { as: user })).status).toBe(404);
    }
    expect(await followsOf(user)).toEqual([]);
    expect(await eventsBy(user)).toEqual([]);
  });

  it("requires a signed-in user with the write scope who may see the followed user", async () => {
    const user = await make.user();
    const other = await make.user();
    const shy = await make.user({ visibility: "private" });
    for (const method of ["GET", "PUT", "DELETE"]) {
      expect((await call(method, `/user/following/${other.name}`)).status).toBe(401);
      for (const name of [shy.name, freshName("none")]) {
        expect(await call(method, `/user/following/${name}`, { as: user })).toMatchObject({
          status: 404,
          body: "",
        });
      }
    }
    const token = await make.token(user, { scopes: "read:user,write:repository" });
    for (const method of ["PUT", "DELETE"]) {
      expect((await call(method, `/user/following/${other.name}`, { token })).status).toBe(403);
    }
    expect(await followsOf(user)).toEqual([]);
    expect(await eventsBy(user)).toEqual([]);
  });
});

describe("the lists of follows", () => {
  /** A user with followers of every visibility, who follows all of them back. */
  async function circle() {
    const user = await make.user();
    const others = {
      open: await make.user(),
      limited: await make.user({ visibility: "limited" }),
      shy: await make.user({ visibility: "private" }),
      last: await make.user(),
    };
    for (const other of Object.values(others)) {
      await db.insert(follows).values([
        { followerId: other.id, followedId: user.id, createdAt: 1 },
        { followerId: user.id, followedId: other.id, createdAt: 1 },
      ]);
    }
    const see = async (path: string, sending: { as?: TestUser; token?: string }) => {
      const { ids, totals } = await readAll(path, sending, { limit: 2 });
      const seen = Object.entries(others).filter(([, { id }]) => ids.includes(id));
      expect(ids).toHaveLength(seen.length);
      expect(totals).toEqual([seen.length]);
      return seen.map(([name]) => name);
    };
    return { user, others, see };
  }

  it.each(["followers", "following"])(
    "%s: list and count the users that each viewer may see",
    async (list) => {
      const { user, others, see } = await circle();
      const path = `/users/${user.name}/${list}`;
      const everybody = ["open", "limited", "shy", "last"];
      expect(await see(path, { as: await make.admin() })).toEqual(everybody);
      expect(await see(path, { as: others.shy })).toEqual(everybody);
      expect(await see(path, { as: await make.user() })).toEqual(["open", "limited", "last"]);
      expect(await see(path, { as: await make.user({ isRestricted: true }) })).toEqual([
        "open",
        "last",
      ]);
      expect(await see(`/user/${list}`, { as: user })).toEqual(["open", "limited", "last"]);
      const token = await make.token(user, { scopes: "public-only,all" });
      expect(await see(`/user/${list}`, { token })).toEqual(["open", "last"]);
      expect((await call("GET", path)).status).toBe(401);
      expect((await call("GET", `/user/${list}`)).status).toBe(401);
    },
  );

  it.each(["followers", "following"])("%s: are sorted by name", async (list) => {
    const { user } = await circle();
    const { body } = await call("GET", `/user/${list}`, { as: user });
    const names: string[] = body.map(({ login }: { login: string }) => login);
    expect(names).toEqual(names.toSorted());
    expect(body[0]).toMatchObject({ id: expect.any(Number), email: expect.any(String) });
  });

  // The contract writes these paths with a colon; generated clients send them literally.
  it("interpret the literal :username as the caller", async () => {
    const { user, see } = await circle();
    expect(await see("/users/:username/followers", { as: user })).toEqual([
      "open",
      "limited",
      "last",
    ]);
    expect((await call("GET", "/users/:username/followers")).status).toBe(401);
    const token = await make.token(user, { scopes: "read:repository" });
    expect((await call("GET", "/users/:username/followers", { token })).status).toBe(403);
  });

  it("are not found for an unknown user", async () => {
    const as = await make.user();
    const shy = await make.user({ visibility: "private" });
    for (const name of [shy.name, freshName("none")]) {
      for (const list of ["followers", "following"]) {
        expect(await call("GET", `/users/${name}/${list}`, { as })).toMatchObject({
          status: 404,
          body: "",
        });
      }
    }
  });
});

describe("GET /users/{username}/following/{target}", () => {
  it("reports whether one user follows the other, for callers who may see both", async () => {
    const [user, other, third] = [await make.user(), await make.user(), await make.user()];
    const shy = await make.user({ visibility: "private" });
    await db.insert(follows).values([
      { followerId: user.id, followedId: other.id, createdAt: 1 },
      { followerId: user.id, followedId: shy.id, createdAt: 1 },
      { followerId: shy.id, followedId: user.id, createdAt: 1 },
    ]);
    const ask = (one: string, two: string, sending = {}) =>
      call("GET", `/users/${one}/following/${two}`, sending);

    expect(await ask(user.name, other.name)).toMatchObject({ status: 204, body: "" });
    expect(await ask(user.name, other.name, { as: third })).toMatchObject({ status: 204 });
    expect(await ask(other.name, user.name)).toMatchObject({ status: 404, body: "" });
    expect((await ask(user.name, shy.name, { as: third })).status).toBe(404);
    expect((await ask(shy.name, user.name, { as: third })).status).toBe(404);
    expect((await ask(user.name, shy.name, { as: shy })).status).toBe(204);
    expect((await ask(user.name, freshName("none"))).status).toBe(404);
  });

  it("interprets the literals :target and :username as the caller", async () => {
    const [user, other] = [await make.user(), await make.user()];
    await db.insert(follows).values({ followerId: user.id, followedId: other.id, createdAt: 1 });
    const ask = (one: string, sending = {}) =>
      call("GET", `/users/${one}/following/:target`, sending);
    expect((await ask(user.name, { as: other })).status).toBe(204);
    expect((await ask(other.name, { as: user })).status).toBe(404);
    expect((await ask(user.name)).status).toBe(401);
    expect((await ask(":username", { as: user })).status).toBe(404);
    expect(
      (await call("GET", `/users/:username/following/${other.name}`, { as: user })).status,
    ).toBe(204);
  });
});

it("deletes the follows of a deleted account, and reduces the counters", async () => {
  const [user, other] = [await make.user(), await make.user()];
  await call("PUT", `/user/following/${other.name}`, { as: user });
  await call("PUT", `/user/following/${user.name}`, { as: other });
  expect(typesOf(await eventsBy(user))).toEqual(["follow.created"]);
  await db.delete(users).where(eq(users.id, other.id));
  expect((await call("GET", "/user", { as: user })).body).toMatchObject({
    followers_count: 0,
    following_count: 0,
  });
});
