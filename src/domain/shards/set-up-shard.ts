import { sql } from "drizzle-orm";

import { copiedTables } from "../../db/copies/copied-tables.ts";
import { NOTING_TRIGGERS } from "../../db/copies/noted-accounts.ts";
import { copyRefusals } from "../../db/copies/refusals.ts";
import { OWNED_CHANGES_TRIGGER } from "../../db/copies/owned-sql.ts";
import type { Database } from "../../db/db.ts";
import { OWNED_MOVES_TRIGGER } from "../../db/moves/move-triggers.ts";
import { idRanges, shardCopies } from "../../db/schema/index.ts";
import { lazy } from "../../lib/lazy.ts";
import { startIdRanges } from "./id-ranges.ts";

/** Triggers of copied tables that only shards have: their texts by name. */
export const madeTriggers = lazy(
  (): ReadonlyMap<string, string> =>
    new Map([...copyRefusals(), [OWNED_CHANGES_TRIGGER.name, OWNED_CHANGES_TRIGGER.text]]),
);

/** Triggers of copied tables that change own data. The others keep what a shard does not have: search, totals, images, the log. */
export const KEPT_TRIGGERS: readonly string[] = [
  "repositories_lfs_discard",
  "repositories_remains",
  "packages_repository_delete",
  "packages_repository_transfer",
  "packages_repository_visibility",
];

/**
 * Makes a migrated database a shard, and is to be repeated after each migration.
 *
 * @param ranges The ranges of its ids.
 * @returns The ranges that it knew before.
 * @throws Error if it is another shard.
 */
export async function setUpShard(
  shard: Database,
  shardId: number,
  ranges: readonly number[],
): Promise<number[]> {
  const names = JSON.stringify(copiedTables().map(({ name }) => name));
  const partial = JSON.stringify(
    copiedTables()
      .filter(({ ownBy }) => ownBy !== undefined)
      .map(({ name }) => name),
  );
  const kept = JSON.stringify([...KEPT_TRIGGERS, OWNED_MOVES_TRIGGER]);
  const noting = JSON.stringify([...NOTING_TRIGGERS.keys()]);
  const triggers = await shard.all<{ name: string; text: string }>(sql`
    select name, sql as text from sqlite_master
    where type = 'trigger'
      and tbl_name in (select value from json_each(${names}))
      and name not in (select value from json_each(${kept}))
      -- The others of these tables are about repositories' own rows as well.
      and (
        tbl_name not in (select value from json_each(${partial}))
        or name glob tbl_name || '_copied_*' or name glob tbl_name || '_copy_*'
      )
    union all
    select name, sql from sqlite_master
    where type = 'trigger' and name in (select value from json_each(${noting}))`);
  const isMade = ({ name, text }: { name: string; text: string }) =>
    text === (madeTriggers().get(name) ?? NOTING_TRIGGERS.get(name)?.text);
  const present = new Set(triggers.filter(isMade).map(({ name }) => name));
  const missing = [...madeTriggers()].filter(([name]) => !present.has(name));
  const unnoted = [...NOTING_TRIGGERS].filter(([name]) => !present.has(name));
  const [[state], known] = await shard.batch([
    shard.select().from(shardCopies).limit(1),
    shard.select({ number: idRanges.number }).from(idRanges),
    ...startIdRanges(shardId, ranges).map((statement) => shard.textStatement(statement)),
    // The first database keeps the rule. Here it would be broken between two copied rows, of which one takes the other's place.
    shard.textStatement(sql`drop index if exists repositories_fork`),
    ...triggers
      .filter((trigger) => !isMade(trigger))
      .map(({ name }) => shard.textStatement(sql`drop trigger if exists ${sql.identifier(name)}`)),
    ...missing.map(([, text]) => shard.textStatement(sql.raw(ifMissing(text)))),
    // Rows from before such a trigger are noted with it.
    ...unnoted.flatMap(([, { text, fill }]) => [
      shard.textStatement(sql.raw(ifMissing(text))),
      shard.textStatement(fill),
    ]),
  ]);
  if (!state) await shard.insert(shardCopies).values({ shardId, changeId: 0 });
  else if (state.shardId !== shardId) {
    throw new Error(`the database of shard ${shardId} is shard ${state.shardId}`);
  }
  return known.map(({ number }) => number);
}

/** Two runs may set up a shard at once. */
const ifMissing = (text: string): string =>
  text.replace("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS");
