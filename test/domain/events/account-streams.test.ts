import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { accountActor } from "../../../src/auth/actor.ts";
import type { Ctx } from "../../../src/context.ts";
import { events, type Repository, type User } from "../../../src/db/schema/index.ts";
import { listOwnEvents } from "../../../src/domain/events/list-events.ts";
import type { Positions } from "../../../src/domain/events/merge-parts.ts";
import { relayEvents } from "../../../src/domain/events/relay-events.ts";
import { inDatabase } from "../../../src/domain/shards/in-database.ts";
import {
  makeAccount,
  makeRepository,
  openSharded,
  shardDatabase,
  shardedCtx,
} from "../../support/sharded.ts";

beforeEach(openSharded);

/** Records an event about a repository in a database, at a time in milliseconds. */
async function tell(shard: number, repo: Repository, at: number, type = "issue.opened") {
  await shardDatabase(shard).insert(events).values({
    type,
    actorId: repo.ownerId,
    ownerId: repo.ownerId,
    repoId: repo.id,
    visibility: "public",
    isPrivate: false,
    payload: {},
    createdAt: at,
  });
}

const ctxOf = (user: User, bindings: object = {}): Ctx => ({
  ...shardedCtx(bindings),
  actor: accountActor(user),
});

/** Pages of a stream until nothing follows: the times of their events. */
async function readAll(ctx: Ctx, user: User, size: number, from: Positions = new Map()) {
  const pages: number[][] = [];
  let after = from;
  for (;;) {
    const { items, next } = await listOwnEvents(ctx, user, { after, size });
    if ([...next].every(([shard, id]) => (after.get(shard) ?? 0) === id)) return { pages, after };
    pages.push(items.map(({ event }) => event.createdAt));
    after = next;
  }
}

/** A user with repositories in three databases, in which events happened in turn. */
async function makeScene() {
  const user = await makeAccount();
  const first = await makeRepository(user, 0);
  const second = await makeRepository(user, 1);
  const third = await makeRepository(user, 2);
  for (const [shard, repo, at] of [
    [0, first, 1],
    [2, third, 2],
    [1, second, 3],
    [1, second, 4],
    [0, first, 5],
    [2, third, 6],
    [2, third, 7],
  ] as const) {
    await tell(shard, repo, at);
  }
  return { user, first, second, third };
}

describe("the stream of an account whose repositories are in several databases", () => {
  it.each([1, 2, 3, 50])("has each event once, in order, by pages of %i", async (size) => {
    const { user } = await makeScene();
    const { pages } = await readAll(ctxOf(user), user, size);
    expect(pages.flat()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(Math.max(...pages.map(({ length }) => length))).toBe(Math.min(size, 7));
  });

  it("continues with what happened since in each of them", async () => {
    const { user, second, third } = await makeScene();
    const ctx = ctxOf(user);
    const { after } = await readAll(ctx, user, 3);
    await tell(2, third, 8);
    await tell(1, second, 9);
    expect((await readAll(ctx, user, 3, after)).pages).toEqual([[8, 9]]);
  });

  it("has an event of the first database about a repository of a shard once", async () => {
    const { user, third } = await makeScene();
    const ctx = ctxOf(user);
    await tell(0, third, 8, "repository.created");
    await relayEvents(shardedCtx());
    expect(await shardDatabase(2).$count(events)).toBe(4);
    expect((await readAll(ctx, user, 2)).pages.flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("takes a cursor from before there were shards, and reads these from their beginning", async () => {
    const { user } = await makeScene();
    const alone = { ...ctxOf(user), openShards: () => new Map() };
    const { pages, after } = await readAll(alone, user, 50);
    expect(pages).toEqual([[1, 5]]);
    expect([...after.keys()]).toEqual([0]);
    expect((await readAll(ctxOf(user), user, 50, after)).pages).toEqual([[2, 3, 4, 6, 7]]);
  });

  it("reads nothing while a shard does not answer, and goes on where it was", async () => {
    const { user } = await makeScene();
    const { next } = await listOwnEvents(ctxOf(user), user, { after: new Map(), size: 2 });
    const failing = ctxOf(user, { SHARD_2: env.BARE_DB });
    await expect(listOwnEvents(failing, user, { after: next, size: 2 })).rejects.toThrow(
      "no such table",
    );
    expect((await readAll(ctxOf(user), user, 2, next)).pages.flat()).toEqual([3, 4, 5, 6, 7]);
  });

  it("lists no later event of another database before what is not examined yet", async () => {
    const { third } = await makeScene();
    const other = await makeAccount();
    const repo = await makeRepository(other, 1);
    // Of a repository that is gone.
    await shardDatabase(1).run(sql`
      insert into events (type, actor_id, owner_id, repo_id, payload, created_at)
      with recursive hidden (at) as (select 1 union all select at + 1 from hidden where at < 1000)
      select 'issue.opened', 0, ${other.id}, 1000000, '{}', 2 from hidden`);
    await tell(1, repo, 3);
    await tell(2, { ...third, ownerId: other.id }, 4);
    const { pages } = await readAll(ctxOf(other), other, 10);
    expect(pages.flat()).toEqual([3, 4]);
    expect(pages[0]).toEqual([]);
  });

  it("reads each database once for a page", async () => {
    const { user } = await makeScene();
    const ctx = ctxOf(user);
    const before = ctx.openShard(2).statementCount;
    await listOwnEvents(ctx, user, { after: new Map(), size: 2 });
    expect(inDatabase(ctx, 2).db.statementCount - before).toBe(2);
  });
});
