import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";

import { COPIED_TABLES } from "../../../src/db/copies/copied-tables.ts";
import { type Database, openDatabase } from "../../../src/db/db.ts";

export const SHARDS = { SHARD_1: env.SHARD_1, SHARD_2: env.SHARD_2, SHARD_3: env.SHARD_3 };
const open = (d1: D1Database): Database => openDatabase(d1.withSession("first-primary"));
export const directory = open(env.DIRECTORY_DB);
/** The shards by their numbers, from 1. */
export const databases = Object.values(SHARDS).map(open);

const TABLES = [
  "issues",
  "releases",
  ...COPIED_TABLES.map(({ name }) => name).toReversed(),
  "shard_repositories",
  "shards",
  "copied_changes",
  "shard_copies",
  "owned_changes",
  "discarded_objects",
  "repository_remains",
];

for (const d1 of [env.DIRECTORY_DB, ...Object.values(SHARDS)]) {
  await applyD1Migrations(d1, env.TEST_MIGRATIONS);
}

/** Empties the databases of these tests, which several files use. */
export async function resetDatabases(): Promise<void> {
  for (const db of [directory, ...databases]) {
    for (const table of TABLES) await db.run(sql`delete from ${sql.identifier(table)}`);
  }
}
