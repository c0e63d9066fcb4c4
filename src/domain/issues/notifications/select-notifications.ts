import { desc, eq, sql, type SQL } from "drizzle-orm";

import { toCallerSql } from "../../../auth/caller-sql.ts";
import type { Principal } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import type { Results } from "../../../db/batch.ts";
import { columnsOf, type Database, flagColumn } from "../../../db/db.ts";
import type { Params } from "../../../db/prepared.ts";
import {
  issues,
  issueSubscriptions,
  notifications,
  pulls,
  releases,
  repositories,
  timelineEntries,
} from "../../../db/schema/index.ts";
import type { NotificationContext } from "../../../shapes/issues/notification-thread.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";

/**
 * The statements that select notifications, last updated first, and their repositories. Two, since
 * one row of both would have more columns than D1 returns, and so that a repository is read once
 * for a page.
 *
 * @param page A parenthesized query for the `id` and `repo_id` of the notifications.
 */
export const selectNotifications = (db: Database, principal: Params<Principal>, page: SQL) => ({
  rows: db
    .select({
      row: columnsOf(notifications, "n"),
      issue: {
        number: sql<number | null>`${issues.number}`.as("i_number"),
        title: sql<string>`${issues.title}`.as("i_title"),
        isPull: sql<boolean>`${issues.isPull}`.mapWith(issues.isPull).as("i_is_pull"),
        isMerged: sql<boolean>`exists (
            select 1
            from ${pulls}
            where ${pulls.issueId} = ${issues.id} and ${pulls.mergedAt} is not null
          )`
          .mapWith(issues.isClosed)
          .as("i_is_merged"),
        isClosed: sql<boolean>`${issues.isClosed}`.mapWith(issues.isClosed).as("i_is_closed"),
      },
      release: {
        id: sql<number | null>`${releases.id}`.as("r_id"),
        tagName: sql<string>`${releases.tagName}`.as("r_tag_name"),
        title: sql<string>`${releases.title}`.as("r_title"),
        isDraft: sql<boolean>`${releases.isDraft}`.mapWith(releases.isDraft).as("r_is_draft"),
      },
      lastCommentId: sql<number | null>`(
          select max(${timelineEntries.id})
          from ${timelineEntries}
          where ${timelineEntries.issueId} = ${notifications.issueId}
            and ${timelineEntries.kind} = 'comment'
        )`.as("last_comment_id"),
      isUnsubscribed: flagColumn(
        sql`exists (
          select 1
          from ${issueSubscriptions}
          where ${issueSubscriptions.issueId} = ${notifications.issueId}
            and ${issueSubscriptions.userId} = ${notifications.userId}
            and not ${issueSubscriptions.isSubscribed}
        )`,
        "is_unsubscribed",
      ),
    })
    .from(notifications)
    .leftJoin(issues, eq(issues.id, notifications.issueId))
    .leftJoin(releases, eq(releases.id, notifications.releaseId))
    .where(sql`${notifications.id} in (select id from ${page})`)
    .orderBy(desc(notifications.updatedAt), desc(notifications.id)),
  repos: selectRepositories(db, toCallerSql(principal)).where(
    sql`${repositories.id} in (select repo_id from ${page})`,
  ),
});

type Rows = Results<ReturnType<typeof selectNotifications>>;

/** Converts the rows of `selectNotifications`. */
export function toNotificationContexts(
  { actor }: Ctx,
  { rows, repos: repositoryRows }: Rows,
): NotificationContext[] {
  const repos = new Map<number, RepositoryContext>();
  for (const row of repositoryRows) repos.set(row.repo.id, toRepositoryContext(actor, row));
  return rows.flatMap(({ row, issue, release, lastCommentId, isUnsubscribed }) => {
    const repo = repos.get(row.repoId);
    if (!repo) return [];
    // The left joins return columns of nulls for other subjects.
    const found = issue?.number == null ? undefined : { ...issue, number: issue.number };
    const ofRelease = release?.id == null ? undefined : { ...release, id: release.id };
    return [{ row, repo, issue: found, release: ofRelease, lastCommentId, isUnsubscribed }];
  });
}
