import { env } from "cloudflare:workers";
import { asc, sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import { openDatabase } from "../../../src/db/db.ts";
import { shards } from "../../../src/db/schema/index.ts";
import { measureShards } from "../../../src/domain/shards/measure-shards.ts";
import { systemCtx } from "../../support/system.ts";
import { migrate } from "../../support/migrate.ts";

const NOW = Date.UTC(2026, 0, 31);
const directory = openDatabase(env.DIRECTORY_DB.withSession("first-primary"));

for (const database of [env.DIRECTORY_DB, env.TEST_SHARD_1, env.TEST_SHARD_2]) {
  await migrate(database);
}

const BINDINGS = { DB: env.DIRECTORY_DB, SHARD_1: env.TEST_SHARD_1, SHARD_2: env.TEST_SHARD_2 };

const ctxAt = (now: number, bindings: object = BINDINGS) => systemCtx({ ...bindings }, now);

const all = () => directory.select().from(shards).orderBy(asc(shards.id));

const silent = {
  withSession: () => ({
    prepare: () => {
      throw new Error("no answer");
    },
  }),
} as unknown as D1Database;

beforeEach(async () => {
  await directory.delete(shards);
  await directory.insert(shards).values([1, 2].map((id) => ({ id, createdAt: 1 })));
});

describe("the size of a shard", () => {
  it("is that of its database, and grows with it", async () => {
    await measureShards(ctxAt(NOW));
    const before = await all();
    expect(before.map(({ measuredAt }) => measuredAt)).toEqual([NOW, NOW]);
    for (const { sizeBytes } of before) expect(sizeBytes).toBeGreaterThan(100_000);

    await env.TEST_SHARD_2.prepare("create table large (text)").run();
    await env.TEST_SHARD_2.prepare("insert into large values (hex(zeroblob(500000)))").run();
    await measureShards(ctxAt(NOW + 1));

    const after = await all();
    expect(after[0]?.sizeBytes).toBe(before[0]?.sizeBytes);
    expect(after[1]?.sizeBytes).toBeGreaterThan((before[1]?.sizeBytes ?? 0) + 900_000);
    expect(after.map(({ measuredAt }) => measuredAt)).toEqual([NOW + 1, NOW + 1]);
  });

  it("stays as it was where the shard does not answer or has no binding", async () => {
    await directory.update(shards).set({ sizeBytes: 7, measuredAt: 5 });
    await directory.insert(shards).values({ id: 9, createdAt: 1 });

    await measureShards(ctxAt(NOW, { ...BINDINGS, SHARD_1: silent }));

    expect(await all()).toMatchObject([
      { id: 1, sizeBytes: 7, measuredAt: 5 },
      { id: 2, measuredAt: NOW },
      { id: 9, sizeBytes: 0, measuredAt: null },
    ]);
  });

  it("is measured for some in a run, and for those first that were measured longest ago", async () => {
    const measured = async () => (await all()).map(({ measuredAt }) => measuredAt);
    await measureShards(ctxAt(1), 1);
    expect(await measured()).toEqual([1, null]);
    await measureShards(ctxAt(2), 1);
    expect(await measured()).toEqual([1, 2]);
    await measureShards(ctxAt(3), 1);
    expect(await measured()).toEqual([3, 2]);
  });

  it("is not asked for without shards", async () => {
    const ctx = systemCtx({ DB: silent }, NOW);
    await measureShards(ctx);
    expect(await directory.all(sql`select 1 from shards where measured_at is not null`)).toEqual(
      [],
    );
  });
});
