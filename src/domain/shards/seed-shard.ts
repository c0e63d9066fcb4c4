import { eq, sql } from "drizzle-orm";

import { copiedTables, type CopiedTable } from "../../db/copies/copied-tables.ts";
import { compareKey } from "../../db/copies/compare-sql.ts";
import { insertChanges, isCopiedRow, sqlList, sqlName } from "../../db/copies/copy-sql.ts";
import { type Database, isViolation, onlyWhile } from "../../db/db.ts";
import { type CopyKey, shards } from "../../db/schema/index.ts";

/** Rows of a table that are entered at once. */
const ROWS_AT_ONCE = 1000;

/** Tables of which every shard has all rows. What is about a repository follows from `shard_repositories`. */
const seededTables = (): CopiedTable[] =>
  copiedTables().filter(({ repository }) => repository === undefined);

/**
 * Enters the next rows of copied tables into the log, for a new shard. Safe to repeat and to run concurrently.
 *
 * @returns Whether all are entered.
 */
export async function seedShard(
  directory: Database,
  shardId: number,
  now: number,
): Promise<boolean> {
  const [shard] = await directory.select().from(shards).where(eq(shards.id, shardId));
  if (!shard || shard.seededAt !== null) return true;
  const table = seededTables()[shard.seedTable];
  const isHere = sql`${shards.seedTable} = ${shard.seedTable}
    and ${shards.seedKey} is ${shard.seedKey && JSON.stringify(shard.seedKey)}`;
  if (!table) {
    await directory.update(shards).set({ seededAt: now }).where(eq(shards.id, shardId));
    return true;
  }
  const keys = await directory.all<{ key: string }>(selectKeys(table, shard.seedKey));
  const last = keys.at(-1);
  const next = last
    ? { seedTable: shard.seedTable, seedKey: JSON.parse(last.key) as CopyKey }
    : { seedTable: shard.seedTable + 1, seedKey: null };
  try {
    await directory.batch([
      directory
        .update(shards)
        .set({ ...next, seedTable: onlyWhile(isHere, next.seedTable) })
        .where(eq(shards.id, shardId)),
      directory.textStatement(
        insertChanges(
          table,
          keys.map(({ key }) => key),
          shardId,
        ),
      ),
    ]);
  } catch (error) {
    // Another run has entered these.
    if (!isViolation(error, "NOT NULL", "shards.seed_table")) throw error;
  }
  return false;
}

function selectKeys(table: CopiedTable, after: CopyKey | null) {
  const key = table.key.map(sqlName);
  return sql`
    select json_array(${sqlList(key)}) as "key" from ${sqlName(table.name)}
    where ${compareKey(key, ">", after)} and ${isCopiedRow(table)}
    order by ${sqlList(key)}
    limit ${ROWS_AT_ONCE}`;
}
