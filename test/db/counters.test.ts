import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  repositories,
  repositoryTotals,
  stars,
  users,
  watches,
} from "../../src/db/schema/index.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { eventsBy } from "../support/events.ts";
import { freshName, make, type TestRepo, type TestUser } from "../support/make.ts";

const repoRow = async ({ id }: { id: number }) =>
  (await db.select().from(repositories).where(eq(repositories.id, id)))[0];
const userRow = async ({ id }: { id: number }) =>
  (await db.select().from(users).where(eq(users.id, id)))[0];

/** The stored counters, and the counts of rows. */
async function totals() {
  const stored = await db.select().from(repositoryTotals);
  const counted = await db
    .select({ visibility: repositories.visibility, count: sql<number>`count(*)`.as("n") })
    .from(repositories)
    .groupBy(repositories.visibility);
  const byName = (rows: { visibility: string; count: number }[]) =>
    Object.fromEntries(
      rows.filter(({ count }) => count > 0).map((row) => [row.visibility, row.count]),
    );
  return { stored: byName(stored), counted: byName(counted) };
}

const NOUNS = {
  star: (repo: TestRepo) => `/user/starred/${repo.owner}/${repo.name}`,
  watch: (repo: TestRepo) => `/repos/${repo.owner}/${repo.name}/subscription`,
};

describe("stars and watches", () => {
  it.each(["star", "watch"] as const)(
    "a %s is counted once for twenty concurrent requests",
    async (noun) => {
      const repo = await make.repo(await make.user());
      const fans = [await make.user(), await make.user()];
      const column = noun === "star" ? "starCount" : "watcherCount";
      const own = noun === "star" ? "starCount" : "watchCount";
      const send = (method: string, as: TestUser) => call(method, NOUNS[noun](repo), { as });
      const sendMany = (methods: string[]) =>
        Promise.all(
          Array.from({ length: 20 }, (_, n) => methods[n % methods.length] ?? "").flatMap(
            (method) => fans.map((fan) => send(method, fan)),
          ),
        );

      await sendMany(["PUT"]);
      expect((await repoRow(repo))?.[column]).toBe(2);
      for (const fan of fans) expect((await userRow(fan))?.[own]).toBe(1);

      await sendMany(["DELETE"]);
      expect((await repoRow(repo))?.[column]).toBe(0);
      for (const fan of fans) {
        expect((await userRow(fan))?.[own]).toBe(0);
        expect(await eventsBy(fan)).toHaveLength(2);
      }

      // Both concurrently: the counter equals the number of remaining rows, and the events add up
      // to it.
      await sendMany(["PUT", "DELETE"]);
      const table = noun === "star" ? stars : watches;
      const left = await db.select().from(table).where(eq(table.repoId, repo.id));
      expect((await repoRow(repo))?.[column]).toBe(left.length);
      for (const fan of fans) {
        const types = (await eventsBy(fan)).slice(2).map(({ type }) => type);
        const balance = types.map((type): number => (type.endsWith("created") ? 1 : -1));
        expect(balance.reduce((sum, each) => sum + each, 0)).toBe((await userRow(fan))?.[own]);
      }
    },
  );

  it("are deleted with the repository, and the users' counters are reduced", async () => {
    const owner = await make.user();
    const fan = await make.user();
    const [gone, stored] = [await make.repo(owner), await make.repo(owner)];
    for (const repo of [gone, stored]) {
      for (const toPath of Object.values(NOUNS)) await call("PUT", toPath(repo), { as: fan });
    }
    await call("DELETE", `/repos/${owner.name}/${gone.name}`, { as: owner });
    expect(await userRow(fan)).toMatchObject({ starCount: 1, watchCount: 1 });
    expect(await repoRow(stored)).toMatchObject({ starCount: 1, watcherCount: 1 });
  });

  it("are deleted with the user, and the repositories' counters are reduced", async () => {
    const owner = await make.user();
    const fan = await make.user();
    const repo = await make.repo(owner);
    for (const toPath of Object.values(NOUNS)) await call("PUT", toPath(repo), { as: fan });
    await db.delete(users).where(eq(users.id, fan.id));
    expect(await repoRow(repo)).toMatchObject({ starCount: 0, watcherCount: 0 });
  });

  it("copy the visibility of their repository, whatever changes it", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    for (const toPath of Object.values(NOUNS)) await call("PUT", toPath(repo), { as: owner });
    const visibilities = async () => [
      (await repoRow(repo))?.visibility,
      ...(await db.select().from(stars).where(eq(stars.repoId, repo.id))).map(
        (row) => row.visibility,
      ),
      ...(await db.select().from(watches).where(eq(watches.repoId, repo.id))).map(
        (row) => row.visibility,
      ),
    ];
    expect(await visibilities()).toEqual(["public", "public", "public"]);
    await db.update(users).set({ visibility: "limited" }).where(eq(users.id, owner.id));
    expect(await visibilities()).toEqual(["limited", "limited", "limited"]);
    await db.update(repositories).set({ isPrivate: true }).where(eq(repositories.id, repo.id));
    expect(await visibilities()).toEqual(["private", "private", "private"]);
    await db.update(users).set({ visibility: "public" }).where(eq(users.id, owner.id));
    expect(await visibilities()).toEqual(["private", "private", "private"]);
  });
});

describe("follows", () => {
  it("are counted once for twenty concurrent requests, on both sides", async () => {
    const [user, other] = [await make.user(), await make.user()];
    const path = `/user/following/${other.name}`;
    const sendMany = (method: string) =>
      Promise.all(Array.from({ length: 20 }, () => call(method, path, { as: user })));
    await sendMany("PUT");
    expect((await userRow(user))?.followingCount).toBe(1);
    expect((await userRow(other))?.followerCount).toBe(1);
    await sendMany("DELETE");
    expect((await userRow(user))?.followingCount).toBe(0);
    expect((await userRow(other))?.followerCount).toBe(0);
    expect(await eventsBy(user)).toHaveLength(2);
  });
});

describe("forks", () => {
  it("are counted up with each fork, and down when it is deleted", async () => {
    const owner = await make.user();
    const parent = await make.repo(owner);
    const fork = await make.repo(await make.user(), { parentId: parent.id, isFork: true });
    await make.repo(await make.user(), { parentId: parent.id, isFork: true });
    expect((await repoRow(parent))?.forkCount).toBe(2);
    await db.delete(repositories).where(eq(repositories.id, fork.id));
    expect((await repoRow(parent))?.forkCount).toBe(1);
    // Deleting the parent keeps the forks.
    await call("DELETE", `/repos/${owner.name}/${parent.name}`, { as: owner });
    const left = await db.select().from(repositories).where(eq(repositories.parentId, parent.id));
    expect(left).toEqual([]);
  });
});

describe("totals of repositories", () => {
  it("stay exact through every change of a repository and of its owner", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const hidden = await make.repo(owner, { isPrivate: true });
    const taker = await make.user({ visibility: "limited" });
    const changes = [
      () => db.update(repositories).set({ isPrivate: true }).where(eq(repositories.id, repo.id)),
      () => db.update(repositories).set({ isPrivate: true }).where(eq(repositories.id, repo.id)),
      () => db.update(repositories).set({ isPrivate: false }).where(eq(repositories.id, repo.id)),
      () => db.update(users).set({ visibility: "limited" }).where(eq(users.id, owner.id)),
      () => db.update(users).set({ visibility: "private" }).where(eq(users.id, owner.id)),
      () => db.update(repositories).set({ isPrivate: false }).where(eq(repositories.id, hidden.id)),
      () => db.update(users).set({ visibility: "public" }).where(eq(users.id, owner.id)),
      () => db.update(repositories).set({ ownerId: taker.id }).where(eq(repositories.id, repo.id)),
      () => db.delete(repositories).where(eq(repositories.id, hidden.id)),
    ];
    for (const change of changes) {
      await change();
      const { stored, counted } = await totals();
      expect(stored).toEqual(counted);
    }
    expect(await repoRow(repo)).toMatchObject({
      visibility: "limited",
      ownerLowerName: taker.lowerName,
    });
  });

  it("stay exact under concurrent creation and deletion", async () => {
    const owner = await make.user();
    const names = Array.from({ length: 10 }, () => freshName("repo"));
    await Promise.all(
      names.map((name, n) =>
        call("POST", "/user/repos", { as: owner, json: { name, private: n % 2 === 0 } }),
      ),
    );
    await Promise.all(
      names.slice(3).map((name) => call("DELETE", `/repos/${owner.name}/${name}`, { as: owner })),
    );
    const { stored, counted } = await totals();
    expect(stored).toEqual(counted);
  });
});

it("copies the owner's name to each repository, also after a rename", async () => {
  const owner = await make.user();
  const repos = [await make.repo(owner), await make.repo(owner, { isPrivate: true })];
  const name = freshName("Renamed");
  const renamed = await call("POST", `/admin/users/${owner.name}/rename`, {
    as: await make.admin(),
    json: { new_username: name },
  });
  expect(renamed.status).toBe(204);
  for (const repo of repos) {
    expect((await repoRow(repo))?.ownerLowerName).toBe(name.toLowerCase());
  }
});
