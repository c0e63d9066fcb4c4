import { sql } from "drizzle-orm";

import { COPIED_TABLES } from "../../db/copies/copied-tables.ts";
import { OWNED_CHANGES_TRIGGER } from "../../db/copies/owned-sql.ts";
import type { Database } from "../../db/db.ts";
import { shardCopies } from "../../db/schema/index.ts";

/** Triggers of copied tables that only shards have. */
const MADE_TRIGGERS = [OWNED_CHANGES_TRIGGER] as const;

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
 * @throws Error if it is another shard.
 */
export async function setUpShard(shard: Database, shardId: number): Promise<void> {
  const names = JSON.stringify(COPIED_TABLES.map(({ name }) => name));
  const kept = JSON.stringify(KEPT_TRIGGERS);
  const triggers = await shard.all<{ name: string; text: string }>(sql`
    select name, sql as text from sqlite_master
    where type = 'trigger'
      and tbl_name in (select value from json_each(${names}))
      and name not in (select value from json_each(${kept}))`);
  const isSame = (one: { text: string }, other: { text: string }) => one.text === other.text;
  const dropped = triggers.filter((each) => !MADE_TRIGGERS.some((made) => isSame(each, made)));
  const missing = MADE_TRIGGERS.filter((made) => !triggers.some((each) => isSame(each, made)));
  const [[state]] = await shard.batch([
    shard.select().from(shardCopies).limit(1),
    ...dropped.map(({ name }) =>
      shard.textStatement(sql`drop trigger if exists ${sql.identifier(name)}`),
    ),
    ...missing.map(({ text }) =>
      shard.textStatement(sql.raw(text.replace("TRIGGER", "$& IF NOT EXISTS"))),
    ),
  ]);
  if (!state) await shard.insert(shardCopies).values({ shardId, changeId: 0 });
  else if (state.shardId !== shardId) {
    throw new Error(`the database of shard ${shardId} is shard ${state.shardId}`);
  }
}
