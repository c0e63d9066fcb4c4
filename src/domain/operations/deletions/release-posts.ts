import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import type { Database } from "../../../db/db.ts";
import {
  attachments,
  contentVersions,
  issueAssignees,
  issueDependencies,
  issueLabels,
  issueMentions,
  issues,
  issueSubscriptions,
  labels,
  mails,
  notifications,
  packageVersions,
  reactions,
  releases,
  stopwatches,
  timelineEntries,
  trackedTimes,
} from "../../../db/schema/index.ts";

/**
 * The statement that deletes some comments of an account on issues and pull requests, with their
 * reactions, files and history, as Gitea's purge does. Reviews and comments on code stay, since the
 * answers of others belong to them.
 */
export const deleteSomeComments = (db: Database, accountId: number, limit: number) =>
  db.delete(timelineEntries).where(
    inArray(
      timelineEntries.id,
      db
        .select({ id: timelineEntries.id })
        .from(timelineEntries)
        .where(and(eq(timelineEntries.posterId, accountId), eq(timelineEntries.kind, "comment")))
        .limit(limit),
    ),
  );

/**
 * The statements that take an account out of some of what it did: its posts, releases and versions
 * of packages stay without an author, and its reactions, booked times, roles and notifications go,
 * and so do uses of an organization's labels. The foreign keys would do the same, all at once.
 *
 * @param limit Rows that each statement changes, at most.
 * @param options.keepsComments Whether comments keep their author, to be deleted.
 */
export function releaseSomePosts(
  db: Database,
  accountId: number,
  limit: number,
  { keepsComments }: { readonly keepsComments: boolean },
) {
  const some = (table: SQL, isOne: SQL) =>
    sql`rowid in (select rowid from ${table} where ${isOne} limit ${limit})`;
  const isAccount = (column: SQLiteColumn) => sql`${column} = ${accountId}`;
  const isOwnLabel = (column: SQLiteColumn) => sql`${column} in (
    select ${labels.id} from ${labels} where ${labels.orgId} = ${accountId}
  )`;
  const DELETED = [
    [reactions, isAccount(reactions.userId)],
    [trackedTimes, isAccount(trackedTimes.userId)],
    [stopwatches, isAccount(stopwatches.userId)],
    [notifications, isAccount(notifications.userId)],
    [issueMentions, isAccount(issueMentions.userId)],
    [issueAssignees, isAccount(issueAssignees.userId)],
    [issueSubscriptions, isAccount(issueSubscriptions.userId)],
    [mails, isAccount(mails.userId)],
    [issueLabels, isOwnLabel(issueLabels.labelId)],
    [timelineEntries, isOwnLabel(timelineEntries.labelId)],
  ] as const;
  return [
    db
      .update(issues)
      .set({ posterId: null })
      .where(some(sql`${issues}`, isAccount(issues.posterId))),
    db
      .update(timelineEntries)
      .set({ posterId: null })
      .where(
        some(
          sql`${timelineEntries}`,
          keepsComments
            ? sql`${isAccount(timelineEntries.posterId)} and ${timelineEntries.kind} <> 'comment'`
            : isAccount(timelineEntries.posterId),
        ),
      ),
    db
      .update(timelineEntries)
      .set({ assigneeId: null })
      .where(some(sql`${timelineEntries}`, isAccount(timelineEntries.assigneeId))),
    db
      .update(contentVersions)
      .set({ editorId: null })
      .where(some(sql`${contentVersions}`, isAccount(contentVersions.editorId))),
    db
      .update(attachments)
      .set({ uploaderId: null })
      .where(some(sql`${attachments}`, isAccount(attachments.uploaderId))),
    db
      .update(releases)
      .set({ publisherId: null })
      .where(some(sql`${releases}`, isAccount(releases.publisherId))),
    db
      .update(issueDependencies)
      .set({ creatorId: null })
      .where(some(sql`${issueDependencies}`, isAccount(issueDependencies.creatorId))),
    db
      .update(packageVersions)
      .set({ creatorId: null })
      .where(some(sql`${packageVersions}`, isAccount(packageVersions.creatorId))),
    ...DELETED.map(([table, isOne]) => db.delete(table).where(some(sql`${table}`, isOne))),
  ] as const;
}
