import { and, asc, count, eq, gte, lt, sql, type SQL } from "drizzle-orm";

import { modeOf } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { qualified } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { ACCESS, commentCounts, issues, timelineEntries } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { CommentContext } from "../../../shapes/issues/comment.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isIssueVisible, isNumbered } from "../issue/find-issue.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { isComment, selectComments, toCommentContext } from "./select-comments.ts";

/** The entries of a list by when they were last changed, in milliseconds, both ends included. */
export interface UpdatedRange {
  readonly since: number | undefined;
  readonly before: number | undefined;
}

const SECOND_MS = 1000;

/**
 * A range with its bounds widened to whole seconds, since clients know times to the second only;
 * `before` is excluded.
 */
export const toWholeSeconds = ({ since, before }: UpdatedRange): UpdatedRange => ({
  since: since === undefined ? undefined : Math.floor(since / SECOND_MS) * SECOND_MS,
  before: before === undefined ? undefined : (Math.floor(before / SECOND_MS) + 1) * SECOND_MS,
});

/** The condition for the entries of a range of whole seconds. */
export const isEntryUpdatedIn = ({ since, before }: Params<UpdatedRange>): SQL | undefined =>
  and(
    since === undefined ? undefined : gte(timelineEntries.updatedAt, since),
    before === undefined ? undefined : lt(timelineEntries.updatedAt, before),
  );

const isUnbounded = ({ since, before }: Params<UpdatedRange>): boolean =>
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
  const list = { repoId: repo.row.id, number, range: toWholeSeconds(range), size, offset };
  const {
    issues: [issue],
    rows,
  } = await batch(db, commentsOfIssue(db, list));
  if (!issue || !isIssueVisible(repo, issue)) throw notFound("issue does not exist");
  return {
    items: rows.map((row) => toCommentContext(repo, row)),
    total: issue.total,
  };
}

interface IssueList extends Slice {
  readonly repoId: number;
  readonly number: number;
  readonly range: UpdatedRange;
}

const commentsOfIssue = prepareAll((db, p: Params<IssueList>) => {
  const isOfIssue = isNumbered(p.repoId, p.number);
  const issueId = sql`(
    select ${issues.id}
    from ${issues}
    where ${isOfIssue}
  )`;
  const isListed = and(eq(timelineEntries.issueId, issueId), isComment, isEntryUpdatedIn(p.range));
  const total = isUnbounded(p.range)
    ? sql<number>`${issues.commentCount}`
    : sql<number>`(
        select count(*)
        from ${timelineEntries}
        where ${isListed}
      )`;
  return {
    issues: db
      .select({ isPull: issues.isPull, total: qualified<number>(total).as("total") })
      .from(issues)
      .where(isOfIssue),
    rows: selectComments(db)
      .where(isListed)
      .orderBy(asc(timelineEntries.id))
      .limit(p.size)
      .offset(p.offset),
  };
});

/**
 * Lists a page of the comments of a repository, oldest first: those of its issues and of its pull
 * requests, as far as the caller may see them.
 *
 * Without a range it walks the index in the order of the list, and the total is a stored counter.
 * With one it reads the comments of the range.
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
  const list = { repoId: repo.row.id, range: toWholeSeconds(range), size, offset };
  const args = { ...list, seesIssues, seesPulls };
  return toListedPage(await batch(db, commentsOfRepository(db, args)), (row) =>
    toCommentContext(repo, row),
  );
}

interface RepositoryList extends Slice {
  readonly repoId: number;
  readonly range: UpdatedRange;
  readonly seesIssues: boolean;
  readonly seesPulls: boolean;
}

const commentsOfRepository = prepareAll(
  (db, { repoId, range, seesIssues, seesPulls, size, offset }: Params<RepositoryList>) => {
    const isAll = isUnbounded(range);
    const isListed = and(
      eq(timelineEntries.repoId, repoId),
      isComment,
      isEntryUpdatedIn(range),
      seesIssues && seesPulls ? undefined : eq(issues.isPull, seesPulls),
    );
    const { ofIssues, ofPulls } = commentCounts;
    const stored = sql<number>`${seesIssues} * ${ofIssues} + ${seesPulls} * ${ofPulls}`;
    return {
      counted: isAll
        ? db
            .select({ total: stored.as("total") })
            .from(commentCounts)
            .where(eq(commentCounts.repoId, repoId))
        : db
            .select({ total: count().as("total") })
            .from(timelineEntries)
            .innerJoin(issues, eq(issues.id, timelineEntries.issueId))
            .where(isListed),
      rows: selectComments(db)
        .where(isListed)
        // The sign keeps SQLite from walking all comments in their order to find those of the
        // range.
        .orderBy(isAll ? asc(timelineEntries.id) : sql`+${timelineEntries.id}`)
        .limit(size)
        .offset(offset),
    };
  },
);
