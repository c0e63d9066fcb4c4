import { and, asc, count, eq, gte, lt, sql, type SQL } from "drizzle-orm";

import { modeOf } from "../../auth/access/permission.ts";
import type { Ctx } from "../../context.ts";
import { qualified } from "../../db/db.ts";
import { ACCESS, commentCounts, issues, timelineEntries } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { CommentContext } from "../../shapes/issues/comment.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered } from "../issues/find-issue.ts";
import type { Listed, Slice } from "../slice.ts";
import { isComment, selectComments, toCommentContext } from "./select-comments.ts";

/** The entries of a list by when they were last changed, in milliseconds, both ends included. */
export interface UpdatedRange {
  readonly since: number | undefined;
  readonly before: number | undefined;
}

const SECOND_MS = 1000;

/** Clients know times to the second only, so both ends include their whole second. */
export const isEntryUpdatedIn = ({ since, before }: UpdatedRange): SQL | undefined =>
  and(
    since === undefined
      ? undefined
      : gte(timelineEntries.updatedAt, Math.floor(since / SECOND_MS) * SECOND_MS),
    before === undefined
      ? undefined
      : lt(timelineEntries.updatedAt, (Math.floor(before / SECOND_MS) + 1) * SECOND_MS),
  );

const isUnbounded = ({ since, before }: UpdatedRange): boolean =>
  since === undefined && before === undefined;

/**
 * Lists a page of the comments of an issue or pull request, oldest first.
 *
 * @throws Failure `not_found` also where the caller may not see the issue.
 */
export async function listIssueComments(
  { db }: Ctx,
  repo: RepositoryContext,
  number: number,
  range: UpdatedRange,
  { size, offset }: Slice,
): Promise<Listed<CommentContext>> {
  const issueId = sql`(
    select ${issues.id}
    from ${issues}
    where ${isNumbered(repo.row.id, number)}
  )`;
  const isListed = and(eq(timelineEntries.issueId, issueId), isComment, isEntryUpdatedIn(range));
  const total = isUnbounded(range)
    ? sql<number>`${issues.commentCount}`
    : sql<number>`(
        select count(*)
        from ${timelineEntries}
        where ${isListed}
      )`;
  const [[issue], rows] = await db.batch([
    db
      .select({ isPull: issues.isPull, total: qualified<number>(total).as("total") })
      .from(issues)
      .where(isNumbered(repo.row.id, number)),
    selectComments(db).where(isListed).orderBy(asc(timelineEntries.id)).limit(size).offset(offset),
  ]);
  if (!issue || !isIssueVisible(repo, issue)) throw notFound("issue does not exist");
  return {
    items: rows.map((row) => toCommentContext(repo, row)),
    total: issue.total,
  };
}

/**
 * Lists a page of the comments of a repository, oldest first: those of its issues and of its pull requests, as far as the
 * caller may see them.
 *
 * Without a range it walks the index in the order of the list, and the total is a stored counter. With one it reads the
 * comments of the range.
 */
export async function listRepositoryComments(
  { db }: Ctx,
  repo: RepositoryContext,
  range: UpdatedRange,
  { size, offset }: Slice,
): Promise<Listed<CommentContext>> {
  const seesIssues = modeOf(repo, "issues") >= ACCESS.read;
  const seesPulls = modeOf(repo, "pulls") >= ACCESS.read;
  if (!seesIssues && !seesPulls) return { items: [], total: 0 };
  const isAll = isUnbounded(range);
  const isListed = and(
    eq(timelineEntries.repoId, repo.row.id),
    isComment,
    isEntryUpdatedIn(range),
    seesIssues && seesPulls ? undefined : eq(issues.isPull, seesPulls),
  );
  const { ofIssues, ofPulls } = commentCounts;
  const stored = sql<number>`${seesIssues} * ${ofIssues} + ${seesPulls} * ${ofPulls}`;
  const [[counted], rows] = await db.batch([
    isAll
      ? db
          .select({ total: stored.as("total") })
          .from(commentCounts)
          .where(eq(commentCounts.repoId, repo.row.id))
      : db
          .select({ total: count().as("total") })
          .from(timelineEntries)
          .innerJoin(issues, eq(issues.id, timelineEntries.issueId))
          .where(isListed),
    selectComments(db)
      .where(isListed)
      // The sign keeps SQLite from walking all comments in their order to find those of the range.
      .orderBy(isAll ? asc(timelineEntries.id) : sql`+${timelineEntries.id}`)
      .limit(size)
      .offset(offset),
  ]);
  return {
    items: rows.map((row) => toCommentContext(repo, row)),
    total: counted?.total ?? 0,
  };
}
