import { env } from "cloudflare:workers";

import { type Database, openDatabase } from "../../src/db/db.ts";
import { IDS_PER_RANGE } from "../../src/domain/shards/id-ranges.ts";
import { isSharded, openTestShards } from "./shards/test-shards.ts";

/** The same D1 that the Worker uses; with shards all of them, of which each statement goes to the one that it is about. */
export const db = openDatabase(
  isSharded ? (await openTestShards()).routed : (env.WHOLE_DB ?? env.DB).withSession(),
);

/** The shard that gave an id; 0 for the first database. */
export const shardOfId = (id: number): number => Math.floor(id / IDS_PER_RANGE);

/** The database with a row, by its id: where rows belong that refer to it, and to no repository. */
export function databaseWith(id: number): Database {
  const shard = shardOfId(id);
  const d1 = globalThis.testShards?.all[shard];
  return d1 && shard > 0 ? openDatabase(d1.withSession(), shard) : db;
}
