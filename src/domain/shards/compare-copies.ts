import { asc, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import {
  type ComparedRow,
  type CopyRange,
  selectCopies,
  selectOriginals,
  selectRangeEnd,
} from "../../db/copies/compare-sql.ts";
import { copiedTables, type CopiedTable } from "../../db/copies/copied-tables.ts";
import { insertChanges, selectLaterKeys } from "../../db/copies/copy-sql.ts";
import type { Database } from "../../db/db.ts";
import { type CopyKey, type Shard, shardCopies, shards } from "../../db/schema/index.ts";
import { log, logBug } from "../../lib/log.ts";

const EVERY_MS = 7 * 24 * 60 * 60 * 1000;
/** Shards, and pages of each, that one run compares. */
const SHARDS_AT_ONCE = 4;
const PAGES_MAX = 40;

/**
 * Compares the copies of each shard with the first database, once a week. A row that differs is logged, and entered into the log of
 * changes, so that it is copied again. Safe to repeat and to run concurrently. Leaves the rest to its next run.
 *
 * Cost: three calls for a page of 500 rows, or of the rows about 100 repositories.
 *
 * @param pagesMax Pages of each shard.
 */
export async function compareCopies(
  { directory, openShards, now }: Ctx,
  pagesMax = PAGES_MAX,
): Promise<void> {
  const databases = openShards();
  if (databases.size === 0) return;
  const ids = JSON.stringify([...databases.keys()]);
  const due = await directory
    .select()
    .from(shards)
    .where(
      sql`${shards.seededAt} is not null
        and coalesce(${shards.comparedAt}, 0) <= ${now - EVERY_MS}
        and ${shards.id} in (select value from json_each(${ids}))`,
    )
    .orderBy(asc(sql`coalesce(${shards.comparedAt}, 0)`), shards.id)
    .limit(SHARDS_AT_ONCE);
  await Promise.all(
    due.map(async (state) => {
      const shard = databases.get(state.id);
      try {
        if (shard) await compareShard(directory, shard, { state, now, pagesMax });
      } catch (error) {
        logBug(`shard ${state.id}`, error);
      }
    }),
  );
}

async function compareShard(
  directory: Database,
  shard: Database,
  { state, now, pagesMax }: { state: Shard; now: number; pagesMax: number },
): Promise<void> {
  const { id } = state;
  let { compareTable, compareKey } = state;
  for (let page = 0; page < pagesMax; page++) {
    const table = copiedTables()[compareTable];
    if (!table) break;
    const end = await comparePage(directory, shard, { table, after: compareKey, shardId: id });
    if (end === null) compareTable += 1;
    compareKey = end;
  }
  const isDone = compareTable >= copiedTables().length;
  await directory
    .update(shards)
    .set(
      isDone
        ? { compareTable: 0, compareKey: null, comparedAt: now }
        : { compareTable, compareKey },
    )
    .where(eq(shards.id, id));
  if (isDone) log("copies:compared", { shard: id });
}

interface Page {
  readonly table: CopiedTable;
  readonly after: CopyKey | null;
  readonly shardId: number;
}

/** @returns The end of the page; null at the end of the table. */
async function comparePage(
  directory: Database,
  shard: Database,
  { table, after, shardId }: Page,
): Promise<CopyKey | null> {
  const [next] = await directory.all<{ end: string }>(selectRangeEnd(table, shardId, after));
  const end = next ? (JSON.parse(next.end) as CopyKey) : null;
  const differing = await findDiffering(directory, shard, { table, shardId }, { after, end });
  // What was copied between the two reads is equal now.
  const keys =
    differing.length > 0
      ? await findDiffering(directory, shard, { table, shardId }, differing)
      : [];
  if (keys.length > 0) {
    log("copies:differ", { shard: shardId, table: table.name, rows: keys.length });
    await directory.run(insertChanges(table, keys, shardId));
  }
  return end;
}

/** The keys of rows that differ, without those whose change is still to be copied. */
async function findDiffering(
  directory: Database,
  shard: Database,
  { table, shardId }: Omit<Page, "after">,
  which: CopyRange | readonly string[],
): Promise<string[]> {
  const [[state], copies] = (await shard.batch([
    shard.select().from(shardCopies).limit(1),
    shard.textStatement(selectCopies(table, which)),
  ])) as [{ changeId: number }[], ComparedRow[]];
  const originals = await directory.all<ComparedRow>(selectOriginals(table, which, shardId));
  const rows = new Map(copies.map(({ key, row }) => [key, row]));
  const differing = originals.flatMap(({ key, row }) => (rows.get(key) === row ? [] : [key]));
  const present = new Set(originals.map(({ key }) => key));
  differing.push(...[...rows.keys()].filter((key) => !present.has(key)));
  if (differing.length === 0) return [];
  const later = await directory.all<{ key: string }>(
    selectLaterKeys(table, differing, { shardId, changeId: state?.changeId ?? 0 }),
  );
  const isLater = new Set(later.map(({ key }) => key));
  return differing.filter((key) => !isLater.has(key));
}
