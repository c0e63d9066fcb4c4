import { and, eq, or } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  collaborations,
  follows,
  repositories,
  repositoryTransfers,
  stars,
  users,
  watches,
} from "../../../src/db/schema/index.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy } from "../../support/events.ts";
import { readAll } from "../../support/list.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { logged } from "../../support/usage.ts";

const blocksBy = ({ id }: { id: number }) =>
  db
    .select({ blockedId: blocks.blockedId, note: blocks.note })
    .from(blocks)
    .where(eq(blocks.blockerId, id));

const pathOf = ({ name }: { name: string }) => `/user/blocks/${name}`;

const block = (blocker: TestUser, blocked: { name: string }) =>
  call("PUT", pathOf(blocked), { as: blocker });

describe("PUT and DELETE /user/blocks/{username}", () => {
  it("blocks with a note, once, and unblocks, with one event each", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const path = pathOf({ name: other.name.toUpperCase() });

    expect(await call("GET", path, { as: user })).toMatchObject({ status: 404, body: "" });
    const { answer, line } = await logged(() => call("PUT", `${path}?note=spam`, { as: user }));
    expect(answer).toMatchObject({ status: 204, body: "" });
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
    expect(await call("GET", path, { as: user })).toMatchObject({ status: 204, body: "" });
    expect(await blocksBy(user)).toEqual([{ blockedId: other.id, note: "spam" }]);

    expect(await call("PUT", `${path}?note=again`, { as: user })).toMatchObject({
      status: 400,
      body: { message: "cannot block the user" },
    });
    expect(await blocksBy(user)).toMatchObject([{ note: "spam" }]);

    expect(await call("DELETE", path, { as: user })).toMatchObject({ status: 204, body: "" });
    expect(await call("DELETE", path, { as: user })).toMatchObject({
      status: 400,
      body: { message: "cannot unblock the user" },
    });
    expect(await blocksBy(user)).toEqual([]);
    expect(await eventsBy(user)).toMatchObject([
      { type: "block.created", ownerId: user.id, repoId: null, payload: { userId: other.id } },
      { type: "block.deleted", ownerId: user.id, payload: { userId: other.id } },
    ]);
  });

  it("blocks once where the same request is sent ten times at once", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => block(user, other)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 400)]);
    expect(await eventsBy(user)).toHaveLength(1);
  });

  it("refuses to block oneself, an organization and an unknown account, and writes nothing", async () => {
    const user = await make.user();
    const org = await make.org([]);
    const hidden = await make.user({ visibility: "private" });

    expect(await block(user, user)).toMatchObject({
      status: 400,
      body: { message: "cannot block the user" },
    });
    expect(await block(user, org)).toMatchObject({
      status: 400,
      body: { message: "cannot block an organization" },
    });
    for (const name of [freshName("none"), hidden.name]) {
      expect(await block(user, { name })).toMatchObject({ status: 404, body: "" });
    }
    expect(await blocksBy(user)).toEqual([]);
    expect(await eventsBy(user)).toEqual([]);
  });

  it("refuses a note that is too long", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const sent = await call("PUT", `${pathOf(other)}?note=${"x".repeat(256)}`, { as: user });
    expect(sent).toMatchObject({
      status: 422,
      body: { message: "[note]: must have at most 255 characters" },
    });
    expect(await blocksBy(user)).toEqual([]);
  });

  it("requires a signed-in user, the scope, and a token for all that the user owns", async () => {
    const [user, other] = [await make.user(), await make.user()];
    for (const method of ["GET", "PUT", "DELETE"]) {
      expect((await call(method, pathOf(other))).status).toBe(401);
    }
    for (const scopes of ["read:user", "write:repository", "public-only,write:user"]) {
      const token = await make.token(user, { scopes });
      expect((await call("PUT", pathOf(other), { token })).status).toBe(403);
    }
    const bound = await make.token(user, { repos: [await make.repo(user)] });
    expect((await call("PUT", pathOf(other), { token: bound })).status).toBe(403);
    expect(await blocksBy(user)).toEqual([]);
  });

  it("finds a blocked user who has become private since", async () => {
    const [user, other] = [await make.user(), await make.user()];
    await block(user, other);
    await db.update(users).set({ visibility: "private" }).where(eq(users.id, other.id));
    expect((await call("GET", pathOf(other), { as: user })).status).toBe(204);
    expect((await call("DELETE", pathOf(other), { as: user })).status).toBe(204);
    expect((await call("DELETE", pathOf(other), { as: user })).status).toBe(404);
  });
});

describe("GET /user/blocks", () => {
  it("lists whom the caller blocks, latest first, in pages with a total", async () => {
    const user = await make.user();
    expect(await call("GET", "/user/blocks", { as: user })).toMatchObject({
      status: 200,
      body: [],
    });
    const blocked = [
      await make.user(),
      await make.user({ visibility: "private" }),
      await make.user(),
    ];
    await db
      .insert(blocks)
      .values(
        blocked.map(({ id }, at) => ({ blockerId: user.id, blockedId: id, createdAt: 1000 + at })),
      );
    await db
      .insert(blocks)
      .values({ blockerId: blocked[0]?.id ?? 0, blockedId: user.id, createdAt: 1 });

    expect(await readAll("/user/blocks", { as: user }, { limit: 2 })).toMatchObject({
      ids: blocked.map(({ id }) => id).toReversed(),
      totals: [3],
    });
  });

  it("is for the caller alone, and not for a public-only token", async () => {
    const user = await make.user();
    await block(user, await make.user());
    expect((await call("GET", "/user/blocks")).status).toBe(401);
    const token = await make.token(user, { scopes: "public-only,all" });
    expect((await call("GET", "/user/blocks", { token })).status).toBe(403);
  });
});

/** Two users who follow each other, and star, watch and collaborate on each other's repository. */
async function makeTiedPair() {
  const pair = [await make.user(), await make.user()] as const;
  const repos = [await make.repo(pair[0]), await make.repo(pair[1])] as const;
  const ties = [
    [pair[0], pair[1], repos[1]],
    [pair[1], pair[0], repos[0]],
  ] as const;
  for (const [as, other, repo] of ties) {
    await call("PUT", `/user/following/${other.name}`, { as });
    await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as });
    await call("PUT", `/repos/${repo.owner}/${repo.name}/subscription`, { as });
    await make.collaborator(repo, as, 2);
    await db
      .insert(repositoryTransfers)
      .values({ repoId: repo.id, doerId: other.id, recipientId: as.id, createdAt: 1 });
  }
  return { pair, repos };
}

/** Counts what ties two users. */
async function tiesOf(pair: readonly [TestUser, TestUser], repos: readonly TestRepo[]) {
  const ids = new Set(repos.map(({ id }) => id));
  const isPair = or(
    and(eq(follows.followerId, pair[0].id), eq(follows.followedId, pair[1].id)),
    and(eq(follows.followerId, pair[1].id), eq(follows.followedId, pair[0].id)),
  );
  const inRepos = async (table: typeof stars | typeof watches | typeof collaborations) =>
    (await db.select({ repoId: table.repoId }).from(table)).filter(({ repoId }) => ids.has(repoId))
      .length;
  const transfers = await db.select().from(repositoryTransfers);
  return {
    follows: (await db.select().from(follows).where(isPair)).length,
    stars: await inRepos(stars),
    watches: await inRepos(watches),
    collaborations: await inRepos(collaborations),
    transfers: transfers.filter(({ repoId }) => ids.has(repoId)).length,
  };
}

describe("a block", () => {
  it("undoes what ties the two accounts, in both directions, with the counters", async () => {
    const { pair, repos } = await makeTiedPair();
    const all = { follows: 2, stars: 2, watches: 2, collaborations: 2, transfers: 2 };
    expect(await tiesOf(pair, repos)).toEqual(all);

    expect((await block(pair[0], pair[1])).status).toBe(204);

    const none = { follows: 0, stars: 0, watches: 0, collaborations: 0, transfers: 0 };
    expect(await tiesOf(pair, repos)).toEqual(none);
    const counters = { followerCount: 0, followingCount: 0, starCount: 0, watchCount: 0 };
    for (const { id } of pair) {
      expect(await db.select().from(users).where(eq(users.id, id))).toMatchObject([counters]);
    }
    for (const { id } of repos) {
      expect(await db.select().from(repositories).where(eq(repositories.id, id))).toMatchObject([
        { starCount: 0, watcherCount: 0 },
      ]);
    }
  });

  it("leaves what ties either account to others", async () => {
    const [user, other, third] = [await make.user(), await make.user(), await make.user()];
    const repo = await make.repo(user);
    await call("PUT", `/user/following/${third.name}`, { as: user });
    await call("PUT", `/user/following/${user.name}`, { as: third });
    await call("PUT", `/user/starred/${repo.owner}/${repo.name}`, { as: third });
    await make.collaborator(repo, third, 1);
    await block(user, other);
    expect(await tiesOf([user, third], [repo])).toEqual({
      follows: 2,
      stars: 1,
      watches: 0,
      collaborations: 1,
      transfers: 0,
    });
  });

  const refusal = { status: 403, body: { message: "user is blocked" } };

  it("keeps the blocked user from following, starring, watching and forking, not from reading", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const repo = await make.repo(user);
    await block(user, other);
    const at = `/repos/${user.name}/${repo.name}`;

    const sent = [
      ["PUT", `/user/following/${user.name}`],
      ["PUT", `/user/starred/${user.name}/${repo.name}`],
      ["PUT", `${at}/subscription`],
      ["POST", `${at}/forks`],
    ] as const;
    for (const [method, path] of sent) {
      const json = method === "POST" ? { json: {} } : {};
      expect(await call(method, path, { as: other, ...json }), path).toMatchObject(refusal);
    }
    expect((await call("GET", at, { as: other })).status).toBe(200);
    expect(await eventsBy(other)).toEqual([]);
    expect(await call("GET", at)).toMatchObject({
      body: { stars_count: 0, watchers_count: 0, forks_count: 0 },
    });
    expect(await tiesOf([user, other], [repo])).toMatchObject({ follows: 0, stars: 0, watches: 0 });

    await call("DELETE", pathOf(other), { as: user });
    for (const [method, path] of sent) {
      const json = method === "POST" ? { json: {} } : {};
      expect((await call(method, path, { as: other, ...json })).status, path).toBeLessThan(300);
    }
  });

  it("keeps the blocker from following the blocked user too, but not from starring", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const repo = await make.repo(other);
    await block(user, other);
    expect(await call("PUT", `/user/following/${other.name}`, { as: user })).toMatchObject(refusal);
    const starred = await call("PUT", `/user/starred/${other.name}/${repo.name}`, { as: user });
    expect(starred.status).toBe(204);
  });

  it("keeps nobody else from anything, and leaves what the blocked user undoes", async () => {
    const [user, other, third] = [await make.user(), await make.user(), await make.user()];
    const repo = await make.repo(user);
    await block(user, other);
    await block(other, third);
    expect((await call("PUT", `/user/following/${user.name}`, { as: third })).status).toBe(204);
    for (const path of [
      `/user/following/${user.name}`,
      `/user/starred/${user.name}/${repo.name}`,
    ]) {
      expect((await call("DELETE", path, { as: other })).status, path).toBe(204);
    }
  });

  // As in Gitea: a block must not hinder those who moderate.
  it("does not hinder an administrator of the site", async () => {
    const [user, admin] = [await make.user(), await make.admin()];
    const repo = await make.repo(user);
    expect((await block(user, admin)).status).toBe(204);
    const starred = await call("PUT", `/user/starred/${user.name}/${repo.name}`, { as: admin });
    expect(starred.status).toBe(204);
  });

  it("goes with either account", async () => {
    const [user, other, third] = [await make.user(), await make.user(), await make.user()];
    await block(user, other);
    await block(third, user);
    await db.delete(users).where(eq(users.id, other.id));
    expect(await blocksBy(user)).toEqual([]);
    await db.delete(users).where(eq(users.id, user.id));
    expect(await blocksBy(third)).toEqual([]);
  });

  // The condition is part of the write: a block that is made between the check and the write holds
  // as well.
  it("that is made at the same time as a star leaves no star", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const repo = await make.repo(user);
    const path = `/user/starred/${user.name}/${repo.name}`;
    const [, ...starred] = await Promise.all([
      block(user, other),
      ...Array.from({ length: 5 }, () => call("PUT", path, { as: other })),
    ]);
    expect(new Set(starred.map(({ status }) => status))).not.toContain(500);
    expect(await tiesOf([user, other], [repo])).toMatchObject({ stars: 0 });
  });
});
