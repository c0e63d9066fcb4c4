import { sql } from "drizzle-orm";
import { afterAll, beforeAll } from "vitest";

import type { Ctx } from "../../src/context.ts";
import { copyToShards } from "../../src/domain/shards/copy-to-shards.ts";
import { db } from "./db.ts";

/** Removes shards of the Worker's database before the tests of a file, which other files make without a database, and its own after them. */
export function withShards(): void {
  beforeAll(() => db.run(sql`delete from shards`));
  afterAll(async () => {
    await db.run(sql`delete from repositories where shard <> 0`);
    await db.run(sql`delete from shards`);
    await db.run(sql`delete from copied_changes`);
  });
}

/** Brings the copies in shards of the Worker's database up to date. */
export async function copyAllTo(openCtx: () => Ctx): Promise<void> {
  for (let runs = 0; runs < 50; runs++) {
    await copyToShards(openCtx());
    const [left] = await db.all<{ count: number }>(
      sql`select count(*) as count from copied_changes`,
    );
    if (left?.count === 0) return;
  }
  throw new Error("the log does not become empty");
}
