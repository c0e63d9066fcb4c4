import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  blocks,
  crossShardDependencies,
  events,
  issueDependencies,
  issues,
  repositories,
} from "../../../src/db/schema/index.ts";
import { BLOCKERS_MAX } from "../../../src/domain/dependencies/count-blockers.ts";
import { loadMergeFacts } from "../../../src/domain/protections/merge-facts.ts";
import type { PullContext } from "../../../src/shapes/pulls/pull-request.ts";
import { db } from "../../support/db.ts";
import { make, type TestUser } from "../../support/make.ts";
import {
  asOwner,
  copyAll,
  ctxOf,
  makeIssueOf,
  makeRepoIn,
  shardOf,
} from "../notifications/sharded-scene.ts";
import {
  blockersOf,
  callFaulty,
  callSharded,
  callStrict,
  entriesOf,
  FAILURES,
  type Fault,
  makePlaces,
  nameOf,
  pathOf,
  type Place,
  sendAll,
  sentBy,
} from "./scene.ts";
import { withShards } from "../../support/copies.ts";

withShards();

const DIRECTIONS = [
  [1, 2],
  [0, 1],
  [2, 0],
] as const;

/** Requests that one issue waits for another, or that it does no more. */
const send = (method: "POST" | "DELETE", as: TestUser, blocked: Place, blocker: Place) =>
  callSharded(method, pathOf(blocked, "/dependencies"), { as, json: nameOf(blocker) });
const add = async (as: TestUser, blocked: Place, blocker: Place): Promise<number> =>
  (await send("POST", as, blocked, blocker)).status;
const close = async (as: TestUser, place: Place): Promise<number> =>
  (await callSharded("PATCH", pathOf(place), { as, json: { state: "closed" } })).status;

const list = async (place: Place, rest: "dependencies" | "blocks", as?: TestUser, query = "") => {
  const { status, body, headers } = await callSharded(
    "GET",
    `${pathOf(place, `/${rest}`)}${query}`,
    as && { as },
  );
  expect(status).toBe(200);
  const items = body as { id: number; title: string }[];
  return { ids: items.map(({ id }) => id), items, total: headers.get("X-Total-Count") };
};
const timelineOf = async (place: Place, as?: TestUser) => {
  const { status, body, headers } = await callSharded(
    "GET",
    pathOf(place, "/timeline"),
    as && { as },
  );
  expect(status).toBe(200);
  const entries = body as { type: string; dependent_issue: { id: number } | null }[];
  expect(headers.get("X-Total-Count")).toBe(String(entries.length));
  return entries.map(({ type, dependent_issue: other }) => [type, other?.id]);
};
const eventsOf = async ([repo]: Place) =>
  (
    await shardOf(repo.shard)
      .select()
      .from(events)
      .where(eq(events.repoId, repo.id))
      .orderBy(events.id)
  ).map(({ type, payload }) => [type, payload["issueId"], payload["blockerId"]]);
const isClosed = async ([{ shard }, { id }]: Place) =>
  (await shardOf(shard).select().from(issues).where(eq(issues.id, id)))[0]?.isClosed;

/** Asserts that nothing about issues is stored in any database. */
async function expectUntouched(...places: Place[]): Promise<void> {
  for (const place of places) {
    expect(await blockersOf(place)).toEqual([]);
    expect(await entriesOf(place)).toEqual([]);
    expect(await sentBy(place)).toEqual([]);
    expect(await eventsOf(place)).toEqual([]);
  }
}

async function makePair(blockedIn: number, blockerIn: number) {
  const { owner, places } = await makePlaces(blockedIn, blockerIn);
  const [a, b] = places as [Place, Place];
  return { owner, a, b };
}

describe.each(DIRECTIONS)("a dependency of an issue in database %i on one in %i", (...shards) => {
  it("is seen from both, told in both timelines, keeps it open, and is removed again", async () => {
    const { owner, a, b } = await makePair(...shards);
    const [idOfA, idOfB] = [a[1].id, b[1].id];
    expect(await send("POST", owner, a, b)).toMatchObject({ status: 201, body: { id: idOfA } });
    expect(await list(a, "dependencies")).toMatchObject({ ids: [idOfB], total: "1" });
    expect(await list(b, "blocks")).toMatchObject({ ids: [idOfA], total: "1" });
    expect(await list(b, "dependencies")).toMatchObject({ ids: [], total: "0" });
    expect(await list(a, "blocks")).toMatchObject({ ids: [], total: "0" });
    expect(await timelineOf(a)).toEqual([["add_dependency", idOfB]]);
    expect(await timelineOf(b)).toEqual([["add_dependency", idOfA]]);
    expect(await eventsOf(a)).toEqual([["issue.dependency_added", idOfA, idOfB]]);
    expect(await eventsOf(b)).toEqual([]);

    expect(await close(owner, a)).toBe(412);
    expect(await isClosed(a)).toBe(false);
    expect(await eventsOf(a)).toHaveLength(1);
    // At once, without any job.
    expect(await close(owner, b)).toBe(201);
    expect(await close(owner, a)).toBe(201);
    expect(await isClosed(a)).toBe(true);

    expect(await send("DELETE", owner, a, b)).toMatchObject({ status: 201, body: { id: idOfA } });
    expect(await list(a, "dependencies")).toMatchObject({ ids: [], total: "0" });
    expect(await list(b, "blocks")).toMatchObject({ ids: [], total: "0" });
    const told = async (place: Place) =>
      (await timelineOf(place)).filter(([type]) => type !== "close");
    expect(await told(a)).toEqual([
      ["add_dependency", idOfB],
      ["remove_dependency", idOfB],
    ]);
    expect(await told(b)).toEqual([
      ["add_dependency", idOfA],
      ["remove_dependency", idOfA],
    ]);
    expect((await send("DELETE", owner, a, b)).status).toBe(404);
    // Nothing is left to be sent.
    await sendAll();
    expect(await told(b)).toHaveLength(2);
  });

  it("keeps a pull request from being merged for as long as the other one is open", async () => {
    const { owner, a, b } = await makePair(...shards);
    const [repo, issue] = a;
    await add(owner, a, b);
    const pull = { repo: asOwner(repo, owner), row: issue, pull: { headOid: "" } };
    const isBlocked = async () =>
      (await loadMergeFacts(ctxOf(owner, repo), pull as unknown as PullContext)).isBlocked;
    expect(await isBlocked()).toBe(true);
    expect(await close(owner, b)).toBe(201);
    expect(await isBlocked()).toBe(false);
  });

  it("is added and removed from the side of the blocking issue, which is answered", async () => {
    const { owner, a, b } = await makePair(...shards);
    const sending = { as: owner, json: nameOf(a) };
    const added = await callSharded("POST", pathOf(b, "/blocks"), sending);
    expect(added).toMatchObject({ status: 201, body: { id: b[1].id } });
    expect(await blockersOf(a)).toEqual([b[1].id]);
    const removed = await callSharded("DELETE", pathOf(b, "/blocks"), sending);
    expect(removed).toMatchObject({ status: 201, body: { id: b[1].id } });
    expect(await blockersOf(a)).toEqual([]);
  });

  it("ends with the blocking issue: at once for closing, and everywhere after the job", async () => {
    const { owner, a, b } = await makePair(...shards);
    await add(owner, a, b);
    expect((await callSharded("DELETE", pathOf(b), { as: owner })).status).toBe(204);
    expect(await list(a, "dependencies")).toMatchObject({ ids: [] });
    expect((await callSharded("GET", pathOf(a, "/timeline"))).body).toEqual([]);
    await sendAll();
    expect([await blockersOf(a), await entriesOf(a)]).toEqual([[], []]);
    expect(await timelineOf(a)).toEqual([]);
    expect(await close(owner, a)).toBe(201);
  });

  it("ends with the blocked issue, also in the timeline of the other one", async () => {
    const { owner, a, b } = await makePair(...shards);
    await add(owner, a, b);
    expect((await callSharded("DELETE", pathOf(a), { as: owner })).status).toBe(204);
    expect(await list(b, "blocks")).toMatchObject({ ids: [], total: "0" });
    await sendAll();
    expect([await blockersOf(a), await entriesOf(b), await sentBy(a)]).toEqual([[], [], []]);
  });

  it("ends with the repository of the blocking issue", async () => {
    const { owner, a, b } = await makePair(...shards);
    await add(owner, a, b);
    const [repo] = b;
    const path = `/repos/${repo.owner}/${repo.name}`;
    expect((await callSharded("DELETE", path, { as: owner })).status).toBe(204);
    expect(await close(owner, a)).toBe(201);
    // As the removal of what is left of it does.
    await shardOf(repo.shard).delete(issues).where(eq(issues.repoId, repo.id));
    await sendAll();
    expect(await blockersOf(a)).toEqual([]);
    expect(await timelineOf(a)).toEqual([["close", undefined]]);
  });

  // SECURITY: that there is a dependency tells of the other side.
  it("shows nothing of an issue that the reader may not see", async () => {
    const { owner, a, b } = await makePair(...shards);
    await add(owner, a, b);
    const setPrivate = async ([repo]: Place, isPrivate: boolean) => {
      const json = { private: isPrivate };
      const path = `/repos/${repo.owner}/${repo.name}`;
      expect((await callSharded("PATCH", path, { as: owner, json })).status).toBe(200);
    };
    await setPrivate(b, true);
    expect(await timelineOf(a)).toEqual([]);
    expect(await timelineOf(a, owner)).toHaveLength(1);
    const { items, total } = await list(a, "dependencies");
    expect([items.map(({ title }) => title), total]).toEqual([["HIDDEN"], "1"]);
    await setPrivate(b, false);
    expect(await timelineOf(a)).toHaveLength(1);
    await setPrivate(a, true);
    expect(await timelineOf(b)).toEqual([]);
    expect(await timelineOf(b, owner)).toHaveLength(1);
    expect(await list(b, "blocks")).toMatchObject({ ids: [], total: "0" });
    expect(await list(b, "blocks", owner)).toMatchObject({ ids: [a[1].id], total: "1" });
  });

  it("is refused to whom it would be in one database, and nothing is written", async () => {
    const { owner, a, b } = await makePair(...shards);
    const [reader, kept] = [await make.user(), await make.user()];
    for (const user of [kept]) await make.collaborator(a[0], user, 2);
    await db.insert(blocks).values({ blockerId: owner.id, blockedId: kept.id, createdAt: 1 });
    await copyAll();
    expect(await add(reader, a, b)).toBe(404);
    expect(await add(kept, a, b)).toBe(403);
    const strict = await callStrict("POST", pathOf(a, "/dependencies"), {
      as: owner,
      json: nameOf(b),
    });
    expect(strict.status).toBe(400);
    const missing = { ...nameOf(b), index: 999 };
    const path = pathOf(a, "/dependencies");
    expect((await callSharded("POST", path, { as: owner, json: missing })).status).toBe(404);
    await db
      .update(repositories)
      .set({ isPrivate: true, visibility: "private" })
      .where(eq(repositories.id, b[0].id));
    await copyAll();
    const writer = await make.user();
    await make.collaborator(a[0], writer, 2);
    await copyAll();
    expect(await add(writer, a, b)).toBe(404);
    await db.update(repositories).set({ archivedAt: 1 }).where(eq(repositories.id, a[0].id));
    await copyAll();
    expect(await add(owner, a, b)).toBe(423);
    await expectUntouched(a, b);
  });

  it.each(FAILURES)("is found again whole after %s, whichever it is", async (_, failure) => {
    const { owner, places } = await makePlaces(shards[0]);
    const [a] = places as [Place];
    const blocker = await makeRepoIn(shards[1], owner);
    for (let at = 3; ; at++) {
      const b: Place = [blocker, await makeIssueOf(blocker)];
      const fault: Fault = { at, ...failure, calls: 0 };
      await callFaulty(fault)("POST", pathOf(a, "/dependencies"), { as: owner, json: nameOf(b) });
      const isOver = fault.calls <= at;
      // The caller tries again.
      expect([201, 409]).toContain(await add(owner, a, b));
      // Leases end, and the schedule sends what was not.
      await sendAll(5 * 60_000);
      expect(await blockersOf(a)).toEqual([b[1].id]);
      expect(await entriesOf(b)).toEqual([["add_dependency", a[1].id]]);
      expect((await entriesOf(a)).filter(([, id]) => id === b[1].id)).toHaveLength(1);
      expect(await list(b, "blocks")).toMatchObject({ ids: [a[1].id] });
      expect((await send("DELETE", owner, a, b)).status).toBe(201);
      if (isOver) break;
    }
  });
});

describe("dependencies of several databases", () => {
  it("are listed in one order, by page, with the total", async () => {
    const { owner, places } = await makePlaces(1, 1, 2, 0);
    const [a, near, far, first] = places as [Place, Place, Place, Place];
    const more: Place = [far[0], await makeIssueOf(far[0], { createdAt: 2000 })];
    const here: Place = [a[0], await makeIssueOf(a[0])];
    for (const blocker of [first, far, near, more, here])
      expect(await add(owner, a, blocker)).toBe(201);
    const byRepo = [near, far, first].toSorted(([one], [other]) => one.id - other.id);
    const ids = [here, ...byRepo.flatMap((place) => (place === far ? [more, far] : [place]))].map(
      ([, { id }]) => id,
    );
    expect(await list(a, "dependencies")).toMatchObject({ ids, total: "5" });
    expect(await list(a, "dependencies", undefined, "?limit=2&page=2")).toMatchObject({
      ids: ids.slice(2, 4),
      total: "5",
    });
    expect(await list(a, "dependencies", undefined, "?limit=2&page=4")).toMatchObject({
      ids: [],
      total: "5",
    });

    const waiting = [here, near, far, first, more];
    const {
      owner: other,
      places: [blocker],
    } = await makePlaces(2);
    expect(other.id).not.toBe(owner.id);
    const b = blocker as Place;
    for (const each of waiting) expect(await add(owner, each, b)).toBe(201);
    expect(await list(b, "blocks")).toMatchObject({ ids, total: "5" });
    expect(await list(b, "blocks", undefined, "?limit=2&page=3")).toMatchObject({
      ids: ids.slice(4),
      total: "5",
    });
  });

  it("never form a circle, through as many databases as it goes", async () => {
    const { owner, places } = await makePlaces(0, 1, 1, 2);
    const [a, b, c, d] = places as [Place, Place, Place, Place];
    for (const [blocked, blocker] of [
      [a, b],
      [b, c],
      [c, d],
    ] as const) {
      expect(await add(owner, blocked, blocker)).toBe(201);
    }
    expect(await add(owner, a, b)).toBe(409);
    for (const [blocked, blocker] of [
      [d, a],
      [d, b],
      [c, b],
      [c, a],
      [b, a],
    ] as const) {
      const before = await Promise.all(places.map(entriesOf));
      expect(await add(owner, blocked, blocker)).toBe(422);
      expect(await Promise.all(places.map(entriesOf))).toEqual(before);
    }
    expect([await blockersOf(d), await blockersOf(b)]).toEqual([[], []]);
    // One of the same database, beyond which the search goes on elsewhere.
    const e: Place = [c[0], await makeIssueOf(c[0])];
    expect(await add(owner, e, c)).toBe(201);
    expect(await shardOf(1).$count(issueDependencies, eq(issueDependencies.issueId, e[1].id))).toBe(
      1,
    );
    expect(await blockersOf(e)).toEqual([]);
    expect(await entriesOf(e)).toEqual([["add_dependency", c[1].id]]);
    expect(await add(owner, e, c)).toBe(409);
    expect(await blockersOf(e)).toEqual([]);
  });

  it("of which two would close a circle at the same moment are not both added", async () => {
    const { owner, places } = await makePlaces(1, 2, 0);
    const [a, b, c] = places as [Place, Place, Place];
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all([add(owner, a, b), add(owner, b, c), add(owner, c, a)]);
      expect(answers.filter((status) => status === 201).length).toBeLessThan(3);
      expect(answers.every((status) => status === 201 || status === 422)).toBe(true);
      for (const [blocked, blocker] of [
        [a, b],
        [b, c],
        [c, a],
      ] as const) {
        await send("DELETE", owner, blocked, blocker);
      }
    }
  });

  it("are a hundred at most for one issue, over all databases", async () => {
    const { owner, a, b } = await makePair(1, 2);
    const row = {
      issueId: a[1].id,
      blockerRepoId: b[0].id,
      blockerCreatedAt: 1,
      isChecked: true,
      createdAt: 1,
    };
    const others = Array.from({ length: BLOCKERS_MAX - 1 }, (_, at) => ({
      ...row,
      blockerId: -at - 1,
    }));
    for (let at = 0; at < others.length; at += 10) {
      await shardOf(1)
        .insert(crossShardDependencies)
        .values(others.slice(at, at + 10));
    }
    const near: Place = [a[0], await makeIssueOf(a[0])];
    expect(await add(owner, a, near)).toBe(201);
    expect(await add(owner, a, b)).toBe(422);
    expect(await entriesOf(b)).toEqual([]);
    expect(await blockersOf(a)).toHaveLength(BLOCKERS_MAX - 1);
  });

  it("that a call has left behind block nothing, are not listed, and are in the way of none for long", async () => {
    const { owner, a, b } = await makePair(1, 2);
    const candidate = {
      issueId: a[1].id,
      blockerId: b[1].id,
      blockerRepoId: b[0].id,
      blockerCreatedAt: 1,
    };
    await shardOf(1)
      .insert(crossShardDependencies)
      .values({ ...candidate, createdAt: Date.now() });
    expect(await list(a, "dependencies")).toMatchObject({ ids: [], total: "0" });
    expect(await list(b, "blocks")).toMatchObject({ ids: [], total: "0" });
    expect((await send("DELETE", owner, a, b)).status).toBe(404);
    expect(await add(owner, b, a)).toBe(422);
    const old = { createdAt: Date.now() - 10 * 60_000 };
    await shardOf(1)
      .update(crossShardDependencies)
      .set(old)
      .where(eq(crossShardDependencies.issueId, a[1].id));
    expect(await add(owner, b, a)).toBe(201);
    expect(await close(owner, a)).toBe(201);
  });
});
