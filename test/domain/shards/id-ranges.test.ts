import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  IDS_PER_RANGE,
  keepIdRanges,
  openIdRanges,
  raiseIdRange,
} from "../../../src/domain/shards/id-ranges.ts";
import { copyToShard } from "../../../src/domain/shards/copy-to-shards.ts";
import { directory, openSharded, shardDatabase } from "../../support/sharded.ts";

beforeEach(openSharded);

const ranges = () =>
  directory.all<{ number: number; shard_id: number }>(sql`select * from id_ranges order by number`);
const give = (number: number, shardId: number) =>
  directory.run(sql`insert into id_ranges (number, shard_id) values (${number}, ${shardId})`);
/** The ranges of the sequences of a shard. */
const sequences = async (shard: number) =>
  (
    await shardDatabase(shard).all<{ number: number }>(sql`
      select distinct seq >> 36 as number from sqlite_sequence where name <> 'd1_migrations'`)
  ).map(({ number }) => number);
const setUp = (id: number) => copyToShard(directory, { id, db: shardDatabase(id) }, 1);

describe("the ranges of ids", () => {
  it("of new shards are those of their numbers", async () => {
    expect(await ranges()).toEqual([1, 2, 3].map((id) => ({ number: id, shard_id: id })));
    for (const id of [1, 2, 3]) {
      expect(await sequences(id)).toEqual([id]);
      expect(await shardDatabase(id).all(sql`select * from id_ranges`)).toEqual([
        { number: id, shard_id: id },
      ]);
    }
  });

  it("of a shard that comes later is a new one, if another shard has that of its number", async () => {
    await directory.run(sql`delete from id_ranges where number = 3`);
    expect(await raiseIdRange(directory, { shardId: 1, above: 2 })).toBe(true);
    expect(await ranges()).toContainEqual({ number: 3, shard_id: 1 });
    expect(await openIdRanges(directory, 3)).toEqual([4]);
    expect(await openIdRanges(directory, 3)).toEqual([4]);
  });

  it("are given once to shards that come at the same time, and to each one", async () => {
    await give(7, 1);
    await Promise.all([7, 8, 9, 7, 8, 9].map((id) => openIdRanges(directory, id)));
    const given = (await ranges()).filter(({ shard_id: id }) => id > 3);
    expect(new Set(given.map(({ shard_id: id }) => id))).toEqual(new Set([7, 8, 9]));
    expect(given).toHaveLength(3);
  });

  it("rise above those of another database, once, and not without need", async () => {
    expect(await raiseIdRange(directory, { shardId: 1, above: 0 })).toBe(true);
    expect(await raiseIdRange(directory, { shardId: 2, above: 1 })).toBe(true);
    expect(await ranges()).toHaveLength(3);

    const both = [1, 1, 2].map((shardId) => raiseIdRange(directory, { shardId, above: 3 }));
    expect(await Promise.all(both)).toEqual([true, true, true]);
    const given = (await ranges()).slice(3);
    expect(given.map(({ number }) => number)).toEqual([4, 5]);
    expect(new Set(given.map(({ shard_id: id }) => id))).toEqual(new Set([1, 2]));
  });

  it("end with the last one", async () => {
    await give(2047, 3);
    expect(await raiseIdRange(directory, { shardId: 1, above: 3 })).toBe(false);
    expect(await raiseIdRange(directory, { shardId: 1, above: 0 })).toBe(true);
    await give(9, 1);
    await expect(openIdRanges(directory, 9)).rejects.toThrow("no range of ids is left");
    expect(await ranges()).toHaveLength(5);
  });

  it("let all sequences of a shard follow, also of tables that are made later, and never fall", async () => {
    const shard = shardDatabase(1);
    await shard.run(sql`delete from sqlite_sequence where name = 'events'`);
    await shard.run(sql`update sqlite_sequence set seq = 7 where name = 'issues'`);
    await give(4, 1);
    await setUp(1);
    expect(await sequences(1)).toEqual([4]);

    const later = 4 * IDS_PER_RANGE + 77;
    await shard.run(sql`update sqlite_sequence set seq = ${later} where name = 'issues'`);
    await setUp(1);
    expect(await shard.all(sql`select seq from sqlite_sequence where name = 'issues'`)).toEqual([
      { seq: later },
    ]);
    expect(await shard.all(sql`select number from id_ranges order by 1`)).toEqual([
      { number: 1 },
      { number: 4 },
    ]);
  });

  // A binding may name the wrong database.
  it("do not start in the database of another shard", async () => {
    const wrong = copyToShard(directory, { id: 9, db: shardDatabase(2) }, 1);
    await expect(wrong).rejects.toThrow("the database of shard 9 is shard 2");
    expect(await sequences(2)).toEqual([2]);
    expect(await shardDatabase(2).all(sql`select * from id_ranges`)).toHaveLength(1);
  });

  it("are listed again in a first database of an earlier time", async () => {
    await give(4, 1);
    await setUp(1);
    await directory.run(sql`delete from id_ranges where number = 4`);
    await setUp(1);
    expect(await ranges()).toContainEqual({ number: 4, shard_id: 1 });

    await directory.run(sql`update id_ranges set shard_id = 2 where number = 4`);
    await expect(keepIdRanges(directory, 1, [4])).rejects.toThrow("is another shard's");
  });
});
