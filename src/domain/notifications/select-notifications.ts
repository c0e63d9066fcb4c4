import { desc, eq, sql, type SQL } from "drizzle-orm";

import { toCallerSql } from "../../auth/caller-sql.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf, type Database } from "../../db/db.ts";
import type { Params } from "../../db/prepared.ts";
import { issues, notifications, releases, repositories } from "../../db/schema/index.ts";
import type { NotificationContext } from "../../shapes/issues/notification-thread.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { selectRepositories, toRepositoryContext } from "../repos/find-repository.ts";
import { findSubjectsInShards, issueSubject, releaseSubject, toSubject } from "./subjects.ts";

/**
 * The statements of the first database that select notifications, last updated first, with their subjects as far as these are
 * there too, and their repositories. Two, since one row of both would have more columns than D1 returns, and so that a
 * repository is read once for a page.
 *
 * @param page A parenthesized query for the `id` and `repo_id` of the notifications.
 */
export const selectNotifications = (db: Database, principal: Params<Principal>, page: SQL) =>
  [
    db
      .select({
        row: columnsOf(notifications, "n"),
        issue: issueSubject(),
        release: releaseSubject(),
      })
      .from(notifications)
      .leftJoin(issues, eq(issues.id, notifications.issueId))
      .leftJoin(releases, eq(releases.id, notifications.releaseId))
      .where(sql`${notifications.id} in (select id from ${page})`)
      .orderBy(desc(notifications.updatedAt), desc(notifications.id)),
    selectRepositories(db, toCallerSql(principal)).where(
      sql`${repositories.id} in (select repo_id from ${page})`,
    ),
  ] as const;

type Statements = ReturnType<typeof selectNotifications>;
type Rows = readonly [Awaited<Statements[0]>, Awaited<Statements[1]>];

/**
 * What the rows of `selectNotifications` are, with the subjects that are in shards. Without those whose subject was deleted
 * lately: the event of the deletion removes them.
 *
 * Cost: nothing more for subjects in the first database; one round trip, of all shards concerned at the same time, for the
 * others.
 */
export async function toNotificationContexts(
  ctx: Ctx,
  [rows, repositoryRows]: Rows,
): Promise<NotificationContext[]> {
  const repos = new Map<number, RepositoryContext>();
  for (const row of repositoryRows) repos.set(row.repo.id, toRepositoryContext(ctx.actor, row));
  const found = rows.flatMap((each) => {
    const repo = repos.get(each.row.repoId);
    return repo ? [{ ...each, repo }] : [];
  });
  const subjectOf = await findSubjectsInShards(ctx, found);
  return found.flatMap(({ row, repo, issue, release }) => {
    const subject = repo.row.shard === 0 ? toSubject(issue, release) : subjectOf(row);
    const isThere =
      (row.issueId === null || subject.issue !== undefined) &&
      (row.releaseId === null || subject.release !== undefined);
    return isThere ? [{ row, repo, ...subject }] : [];
  });
}
