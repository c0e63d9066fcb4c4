import { gt } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import {
  accountDeletions,
  events,
  hooks,
  imports,
  pullMirrors,
  pushMirrors,
  repositoryMoves,
} from "../../db/schema/index.ts";
import { everywhere } from "../shards/list-from-all.ts";

/**
 * Ends the leases of jobs in all databases, so that the schedule takes up at once what a killed process left, instead of after
 * minutes. An event that waits for another attempt is attempted early.
 *
 * Only for a caller that knows that no job runs: where one does, another would do its work beside it.
 */
export async function releaseLeases(ctx: Ctx): Promise<void> {
  for (const { db } of everywhere(ctx)) await releaseOwn(db, ctx.now);
  await releaseFirst(ctx.directory, ctx.now);
}

/** The leases on repositories' own data of a database, and on what each database has. */
async function releaseOwn(db: Database, now: number): Promise<void> {
  await db.batch([
    db.update(hooks).set({ leasedUntil: null }).where(gt(hooks.leasedUntil, now)),
    db.update(events).set({ dispatchAt: now }).where(gt(events.dispatchAt, now)),
    db.update(events).set({ consequencesAt: now }).where(gt(events.consequencesAt, now)),
    ...[pullMirrors, pushMirrors, imports].map((table) =>
      db.update(table).set({ leasedUntil: 0 }).where(gt(table.leasedUntil, now)),
    ),
  ]);
}

/** The leases on what only the first database has. */
async function releaseFirst(directory: Database, now: number): Promise<void> {
  const release = (table: typeof accountDeletions | typeof repositoryMoves) =>
    directory.update(table).set({ leasedUntil: 0 }).where(gt(table.leasedUntil, now));
  await directory.batch([release(accountDeletions), release(repositoryMoves)]);
}
