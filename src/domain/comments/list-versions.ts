import { asc, count, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import { contentVersions, issues, timelineEntries, users } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { VersionContext } from "../../shapes/issues/content-version.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered } from "../issues/find-issue.ts";
import { isVersionOf } from "../issues/insert-version.ts";
import type { Listed, Slice } from "../slice.ts";
import { isCommentOf } from "./find-comment.ts";

/**
 * Lists a page of the versions of the body of an issue or pull request, the original first; none if it was never edited.
 *
 * @throws Failure `not_found` also where the caller may not see the issue.
 */
export const listIssueVersions = (
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
): Promise<Listed<VersionContext>> =>
  listVersions(ctx, repo, { isOfIssue: isNumbered(repo.row.id, number), entryId: null }, slice);

/** Lists a page of the versions of a comment, as `listIssueVersions` does. */
export const listCommentVersions = (
  ctx: Ctx,
  repo: RepositoryContext,
  id: number,
  slice: Slice,
): Promise<Listed<VersionContext>> => {
  const issueId = sql`(
    select ${timelineEntries.issueId}
    from ${timelineEntries}
    where ${isCommentOf(ctx, repo, id)}
  )`;
  return listVersions(ctx, repo, { isOfIssue: eq(issues.id, issueId), entryId: id }, slice);
};

async function listVersions(
  { db }: Ctx,
  repo: RepositoryContext,
  { isOfIssue, entryId }: { isOfIssue: SQL | undefined; entryId: number | null },
  { size, offset }: Slice,
): Promise<Listed<VersionContext>> {
  const issueId = sql`(
    select ${issues.id}
    from ${issues}
    where ${isOfIssue}
  )`;
  const isListed = isVersionOf({ issueId, entryId });
  const [[issue], [counted], rows] = await db.batch([
    db.select({ isPull: issues.isPull }).from(issues).where(isOfIssue),
    db.select({ total: count() }).from(contentVersions).where(isListed),
    db
      .select({ row: columnsOf(contentVersions, "v"), editor: columnsOf(users, "e") })
      .from(contentVersions)
      .leftJoin(users, eq(users.id, contentVersions.editorId))
      .where(isListed)
      .orderBy(asc(contentVersions.id))
      .limit(size)
      .offset(offset),
  ]);
  if (!issue || !isIssueVisible(repo, issue)) throw notFound();
  const items = rows.map(({ row, editor }) => ({
    row,
    editor: row.editorId === null ? undefined : (editor ?? undefined),
  }));
  return { items, total: counted?.total ?? 0 };
}
