import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { accountActor } from "../../../src/auth/actor.ts";
import { movedTables } from "../../../src/db/moves/moved-tables.ts";
import type { Repository } from "../../../src/db/schema/index.ts";
import { listOwnEvents } from "../../../src/domain/events/list-events.ts";
import type { Positions } from "../../../src/domain/events/merge-parts.ts";
import { runMove } from "../../../src/domain/moves/run-moves.ts";
import { intercepted } from "../../support/intercepted-database.ts";
import {
  directory,
  makeRepository,
  SHARDED,
  shardDatabase,
  shardedCtx,
} from "../../support/sharded.ts";
import { drawFrom } from "../shards/directory-changes.ts";
import {
  makeNetwork,
  type Network,
  runUntil,
  shardNumbers,
  startMove,
  withMoves,
} from "./fixtures.ts";
import { type Journal, openJournal, writersOf } from "./random-writes.ts";

withMoves();

const WRITES_MAX = 250;

/** That the sequences of each database are in ranges that are its own. */
async function expectOwnSequences(): Promise<void> {
  for (const shard of shardNumbers) {
    const used = await shardDatabase(shard).all<{ number: number }>(sql`
      select distinct seq >> 36 as number from sqlite_sequence where name <> 'd1_migrations'`);
    const own = await directory.all<{ number: number }>(sql`
      select number from id_ranges where shard_id = ${shard} union select 0 where ${shard} = 0`);
    for (const { number } of used) {
      expect(
        own.map((each) => each.number),
        `ranges of ${shard}`,
      ).toContain(number);
    }
  }
}

/** That no id is of two rows, over all databases. */
async function expectUniqueIds({ events }: Journal): Promise<void> {
  const serials = new Map<number, number>();
  for (const shard of shardNumbers) {
    const rows = await shardDatabase(shard).all<{ id: number; serial: number }>(sql`
      select id, payload ->> 'serial' as serial from events where payload ->> 'serial' is not null`);
    for (const { id, serial } of rows) {
      expect(serials.get(id) ?? serial, `event ${id} of ${shard}`).toBe(serial);
      serials.set(id, serial);
    }
  }
  expect([...serials.values()].toSorted((a, b) => a - b)).toEqual([...events.keys()]);
  for (const { name, givesIds } of movedTables()) {
    if (!givesIds || name === "events") continue;
    const ids: number[] = [];
    for (const shard of shardNumbers) {
      const rows = await shardDatabase(shard).all<{ id: number }>(
        sql`select id from ${sql.identifier(name)}`,
      );
      ids.push(...rows.map(({ id }) => id));
    }
    expect(new Set(ids).size, name).toBe(ids.length);
  }
}

/** A reader of the stream of an account, who goes on from where it was. */
function openReader({ owner }: Network) {
  const serials: number[] = [];
  let after: Positions = new Map();
  const readPage = async (): Promise<boolean> => {
    const ctx = { ...shardedCtx(), actor: accountActor(owner) };
    const { items, next } = await listOwnEvents(ctx, owner, { after, size: 7 });
    for (const { event } of items) {
      const { serial } = event.payload;
      if (typeof serial === "number") serials.push(serial);
    }
    const isEnd = [...next].every(([shard, id]) => (after.get(shard) ?? 0) === id);
    after = next;
    return !isEnd;
  };
  return {
    serials,
    readPage,
    async readRest(): Promise<number[]> {
      while (await readPage());
      return serials.toSorted((a, b) => a - b);
    },
  };
}

describe("moves forward and back", () => {
  // Rows of a shard with a greater number come to one with a smaller number, and new ones are written there at the same time.
  it.each(env.TEST_ALL ? [1, 2, 3, 4, 5, 6] : [1, 2])(
    "give no id twice, keep the order of events and list each once, whenever the job is killed (%s)",
    async (seed) => {
      const draw = drawFrom(seed);
      const network = await makeNetwork(1);
      const beside: Repository[] = [];
      for (const shard of [1, 2, 3]) beside.push(await makeRepository(network.owner, shard));
      const journal = openJournal();
      const writers = writersOf(network, draw, journal);
      const reader = openReader(network);

      for (const [source, target] of [
        [1, 3],
        [3, 1],
        [1, 2],
      ] as const) {
        const { id } = await startMove(network, source, target);
        let calls = 0;
        let killedAt = Number.POSITIVE_INFINITY;
        let writesLeft = WRITES_MAX;
        const around = async (call: () => Promise<unknown>): Promise<unknown> => {
          calls += 1;
          if (calls > killedAt) throw new Error("killed");
          if (writesLeft > 0 && draw(3) === 0) {
            writesLeft -= 1;
            await writers.write();
            const other = beside[draw(beside.length)];
            if (other) await writers.writeBeside(other);
            if (draw(8) === 0) await reader.readPage();
            if (draw(20) === 0) await expectOwnSequences();
          }
          const isLast = calls === killedAt;
          if (isLast && draw(2) === 0) throw new Error("killed");
          const result = await call();
          if (isLast) throw new Error("killed");
          return result;
        };
        const bindings = Object.fromEntries(
          Object.entries(SHARDED).flatMap(([name, d1]) =>
            d1 ? [[name, intercepted(d1, around)]] : [],
          ),
        );
        const run = async () => {
          calls = 0;
          killedAt = draw(5) === 0 ? Number.POSITIVE_INFINITY : 1 + draw(120);
          // A job that is killed says nothing more.
          await runMove(shardedCtx(bindings), id).catch(() => undefined);
        };

        expect(await runUntil(id, ["cleaning", "failed"], { runsMax: 200, run })).toMatchObject({
          state: "cleaning",
          differenceCount: 0,
        });
        for (let more = 0; more < 10; more++) await writers.write();
        await runUntil(id, ["done"]);
        await expectOwnSequences();
      }

      expect(journal.events.size).toBeGreaterThan(50);
      await expectUniqueIds(journal);
      const ranges = await directory.all(sql`select number, shard_id from id_ranges`);
      expect(ranges).toEqual([
        { number: 1, shard_id: 1 },
        { number: 2, shard_id: 2 },
        { number: 3, shard_id: 3 },
        { number: 4, shard_id: 1 },
        { number: 5, shard_id: 2 },
      ]);
      for (const repoId of network.repoIds) {
        const rows = await shardDatabase(2).all<{ serial: number }>(sql`
          select payload ->> 'serial' as serial from events
          where repo_id = ${repoId} and payload ->> 'serial' is not null order by id`);
        const told = [...journal.events].flatMap(([serial, of]) => (of === repoId ? [serial] : []));
        expect(rows.map(({ serial }) => serial)).toEqual(told);
      }
      expect(await reader.readRest()).toEqual([...journal.events.keys()]);
      expect(await openReader(network).readRest()).toEqual([...journal.events.keys()]);
      for (const shard of shardNumbers) {
        expect(await shardDatabase(shard).all(sql`pragma foreign_key_check`)).toEqual([]);
      }
    },
    180_000,
  );
});
