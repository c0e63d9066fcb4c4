import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";

/** A repository whose own data is changed; undefined for several, of which those in the first database count. */
type Subject = { readonly shard: number } | undefined;

/**
 * The statements about own data that belong into a batch of the first database: there are any only where that has the data. In shards the same
 * is done by a task, see `addShardTasks`.
 *
 * The check of crossings reads the builder as a function of its own.
 *
 * @param build Takes the database with the own data.
 */
export const ownStatements = <T extends BatchItem<"sqlite">>(
  ctx: Ctx,
  subject: Subject,
  build: (own: Database) => readonly T[],
): readonly T[] => (subject === undefined || subject.shard === 0 ? build(ctx.openShard(0)) : []);
