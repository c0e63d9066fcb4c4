import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { accountActor } from "../../../src/auth/actor.ts";
import { type Repository, type User, events } from "../../../src/db/schema/index.ts";
import { forwardEvents } from "../../../src/domain/events/forward-events.ts";
import { listOwnEvents } from "../../../src/domain/events/list-events.ts";
import { cancelMove } from "../../../src/domain/moves/moves.ts";
import { runMove } from "../../../src/domain/moves/run-moves.ts";
import { everywhere } from "../../../src/domain/shards/list-from-all.ts";
import { NO_RANGE_LEFT } from "../../../src/domain/shards/id-ranges.ts";
import { findDelivery } from "../../../src/domain/webhooks/delivery/find-delivery.ts";
import { redeliver } from "../../../src/domain/webhooks/delivery/redeliver.ts";
import {
  copy,
  directory,
  makeHookIn,
  makeRepository,
  type Sent,
  shardDatabase,
  shardedCtx,
} from "../../support/sharded.ts";
import {
  fresh,
  insertRow,
  makeNetwork,
  moveOf,
  type Network,
  rowsIn,
  runUntil,
  startMove,
  withMoves,
} from "./fixtures.ts";

withMoves();

/** Moves a network to its end. */
async function move(network: Pick<Network, "repo">, source: number, target: number) {
  const { id } = await startMove(network, source, target);
  return runUntil(id, ["done", "failed"]);
}

/** Records an event of a repository in a database, at a time in milliseconds. */
async function tell(shard: number, repo: Repository, at: number): Promise<void> {
  await shardDatabase(shard).insert(events).values({
    type: "issue.opened",
    actorId: repo.ownerId,
    ownerId: repo.ownerId,
    repoId: repo.id,
    visibility: "public",
    isPrivate: false,
    payload: {},
    createdAt: at,
  });
}

/** The times of the events of an account, in the order of its stream. */
async function streamOf(user: User): Promise<number[]> {
  const ctx = { ...shardedCtx(), actor: accountActor(user) };
  const { items } = await listOwnEvents(ctx, user, { after: new Map(), size: 50 });
  return items.map(({ event }) => event.createdAt).filter((at) => at > 1);
}

/** The ranges of the ids of a repository's events in a database, in their order. */
const eventRanges = async (shard: number, { id }: Repository) =>
  (
    await shardDatabase(shard).all<{ number: number }>(sql`
      select id >> 36 as number from events where repo_id = ${id} and created_at > 1 order by id`)
  ).map(({ number }) => number);

describe("a repository that comes back", () => {
  it("has its events once in the stream of its owner, and in their order in its own", async () => {
    const network = await makeNetwork(1);
    const { repo, owner } = network;
    await tell(1, repo, 2);
    await move(network, 1, 3);
    await tell(3, repo, 3);
    expect(await streamOf(owner)).toEqual([2, 3]);

    await move(network, 3, 1);
    await tell(1, repo, 4);

    expect(await streamOf(owner)).toEqual([2, 3, 4]);
    expect(await eventRanges(1, repo)).toEqual([1, 3, 4]);
    expect(await eventRanges(3, repo)).toEqual([1, 3]);
  });

  it("keeps its earlier events in the target if the move is given up", async () => {
    const network = await makeNetwork(1);
    const { repo, owner, repoIds } = network;
    await tell(1, repo, 2);
    await move(network, 1, 3);
    await tell(3, repo, 3);
    const rows = await rowsIn(3, repoIds);
    const { id } = await startMove(network, 3, 1);
    await shardDatabase(3).run(sql`update events set dispatch_at = 1 where created_at = 3`);
    await runMove(shardedCtx(), id);
    expect(await moveOf(id)).toMatchObject({ state: "following", givenCopies: [] });
    expect(await eventRanges(1, repo)).toEqual([1, 3]);

    await cancelMove(shardedCtx(), id);
    await runUntil(id, ["cancelled"]);
    await shardDatabase(3).run(sql`update events set dispatch_at = null`);

    expect(await eventRanges(1, repo)).toEqual([1]);
    expect(await streamOf(owner)).toEqual([2, 3]);
    expect(await rowsIn(3, repoIds)).toEqual(rows);
    expect((await rowsIn(1, repoIds)).get("issues")).toEqual([]);
    // It moves at another time.
    expect(await move(network, 3, 1)).toMatchObject({ state: "done" });
    expect(await streamOf(owner)).toEqual([2, 3]);
  });

  it("sends no event to the operator twice", async () => {
    const sent: { created_at: string }[] = [];
    const queue = {
      sendBatch: async (messages: Iterable<{ body: { created_at: string } }>) => {
        sent.push(...[...messages].map(({ body }) => body));
      },
    };
    const forward = async () => {
      for (const each of everywhere(shardedCtx({ EVENTS_OUT: queue }))) await forwardEvents(each);
    };
    const network = await makeNetwork(1);
    await forward();
    await tell(1, network.repo, 2000);
    await move(network, 1, 3);
    await tell(3, network.repo, 3000);
    await forward();
    await move(network, 3, 1);
    await tell(1, network.repo, 4000);
    await forward();
    expect(sent.map(({ created_at: at }) => at)).toEqual([
      "1970-01-01T00:00:02Z",
      "1970-01-01T00:00:03Z",
      "1970-01-01T00:00:04Z",
    ]);
  });

  it("has deliveries of its owner's hook that are found and sent again by their ids", async () => {
    const network = await makeNetwork(1);
    const { owner, repo } = network;
    const level = "user" as const;
    const hook = await makeHookIn(directory, {
      level,
      ownerId: owner.id,
      url: "https://a.example",
    });
    await copy();
    const deliver = async (shard: number): Promise<number> => {
      const webhook_event_id = await insertRow(shardDatabase(shard), "webhook_events", {
        repo_id: repo.id,
        event_id: shard,
        part: fresh(),
      });
      return insertRow(shardDatabase(shard), "hook_deliveries", {
        hook_id: hook.id,
        webhook_event_id,
        status: "failed",
      });
    };
    const sent: Sent = [];
    const ctx = { ...shardedCtx({}, sent), actor: accountActor(owner) };
    const hookOwner = { level, owner };
    const ids = [await deliver(1)];
    const { id } = await startMove(network, 1, 3);
    // Both databases have them until the source's rows are removed.
    await runUntil(id, ["cleaning"]);
    expect(await redeliver(ctx, hookOwner, hook.id, ids[0] as number)).toMatchObject({
      eventId: 1,
    });
    expect(sent.at(-1)?.body).toEqual({ hookIds: [hook.id], shard: 3 });
    await runUntil(id, ["done"]);
    await shardDatabase(3).run(sql`update hook_deliveries set next_attempt_at = null`);
    ids.push(await deliver(3));
    await move(network, 3, 1);
    ids.push(await deliver(1));

    for (const [at, delivery] of ids.entries()) {
      expect(await findDelivery(ctx, hookOwner, hook.id, delivery)).toMatchObject({
        eventId: [1, 3, 1][at],
      });
    }
    await shardDatabase(1).run(sql`update hook_deliveries set status = 'failed'`);
    await redeliver(ctx, hookOwner, hook.id, ids[1] as number);
    expect(sent.at(-1)?.body).toEqual({ hookIds: [hook.id], shard: 1 });
  });
});

describe("the ids of the target", () => {
  it("rise once more if the source gets a new range while its rows are copied", async () => {
    const network = await makeNetwork(1);
    await shardDatabase(1).run(sql`update events set dispatch_at = 1`);
    const { id } = await startMove(network, 1, 2);
    await runMove(shardedCtx(), id);
    expect(await moveOf(id)).toMatchObject({ state: "following" });
    // A repository comes to the source from a third shard.
    const other = await makeNetwork(3);
    expect(await move(other, 3, 1)).toMatchObject({ state: "done" });
    await tell(1, network.repo, 2);
    await shardDatabase(1).run(sql`update events set dispatch_at = null`);

    expect(await runUntil(id, ["cleaning", "failed"])).toMatchObject({ state: "cleaning" });

    await tell(2, network.repo, 3);
    expect(await eventRanges(2, network.repo)).toEqual([4, 5]);
    expect(await directory.all(sql`select * from id_ranges where number > 3`)).toEqual([
      { number: 4, shard_id: 1 },
      { number: 5, shard_id: 2 },
    ]);
  });

  it("rise before rows come, also if the job is killed in between", async () => {
    const network = await makeNetwork(3);
    const bystander = await makeRepository(network.owner, 1);
    const { id } = await startMove(network, 3, 1);
    // The range is given, and the job dies.
    await directory.run(sql`insert into id_ranges (number, shard_id) values (4, 1)`);
    await tell(1, bystander, 2);
    expect(await eventRanges(1, bystander)).toEqual([1]);

    await runUntil(id, ["cleaning"]);

    await tell(1, bystander, 3);
    expect(await eventRanges(1, bystander)).toEqual([1, 4]);
  });

  it("end a move that needs a range where none is left, and nothing has come", async () => {
    const network = await makeNetwork(3);
    await directory.run(sql`insert into id_ranges (number, shard_id) values (2047, 3)`);
    await copy();
    const { id } = await startMove(network, 3, 1);
    expect(await runUntil(id, ["failed", "cleaning"])).toMatchObject({
      state: "failed",
      reason: NO_RANGE_LEFT,
    });
    const left = await shardDatabase(1)
      .select()
      .from(events)
      .where(eq(events.repoId, network.repo.id));
    expect(left).toEqual([]);
    expect(await shardDatabase(1).all(sql`select id from repositories`)).toEqual([]);
  });
});
