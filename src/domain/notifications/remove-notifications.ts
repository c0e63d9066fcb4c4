import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { mails, notifications } from "../../db/schema/index.ts";
import type { Consequence } from "../../events/consequence.ts";

/** Rows that one statement deletes: a statement of D1 ends after 30 seconds. */
const REMOVED_AT_ONCE = 2000;
/** Statements of one request. */
const STATEMENTS_MAX = 100;

/**
 * Removes the notifications of a deleted issue, pull request or release, and the mails that wait. They are in the first database;
 * the subject was in that of its repository, and went in one batch with the event. Events of a repository are handled in order,
 * so that nothing of it is told afterwards.
 */
export const removeNotifications: Consequence = {
  name: "notification-removal",
  kinds: ["issue.deleted", "release.deleted"],
  async handle({ directory }, { event }, budget) {
    budget.consume(1);
    const results =
      event.type === "issue.deleted"
        ? await directory.batch([
            deleteSome(directory, notifications, sql`issue_id = ${event.issueId}`),
            deleteSome(directory, mails, sql`issue_id = ${event.issueId}`),
          ])
        : event.type === "release.deleted"
          ? [await deleteSomeOfRelease(directory, event.releaseId)]
          : [];
    return results.some(({ meta }) => meta.changes >= REMOVED_AT_ONCE) ? "unfinished" : undefined;
  },
};

/**
 * Removes the notifications of a release that is a draft again, before it is deleted: drafts record no event.
 *
 * Cost: one round trip for each 2,000.
 */
export async function removeNotificationsOfRelease(
  { directory }: Ctx,
  releaseId: number,
): Promise<void> {
  for (let count = 0; count < STATEMENTS_MAX; count++) {
    const { meta } = await deleteSomeOfRelease(directory, releaseId);
    if (meta.changes < REMOVED_AT_ONCE) return;
  }
}

const deleteSomeOfRelease = (db: Database, releaseId: number) =>
  deleteSome(db, notifications, sql`release_id = ${releaseId}`);

const deleteSome = (db: Database, table: typeof notifications | typeof mails, isOne: SQL) =>
  db
    .delete(table)
    .where(sql`rowid in (select rowid from ${table} where ${isOne} limit ${REMOVED_AT_ONCE})`);
