import { and, asc, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, columnsOf, type Database } from "../../../db/db.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { codeComments, issues, reviews, timelineEntries, users } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { IssueNames } from "../../../shapes/issues/issue.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { attachmentsOfEntry } from "../../issues/comments/select-comments.ts";
import { isIssueVisible, isNumbered } from "../../issues/issue/find-issue.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import { idOfPull, reviewedPullOf, type ReviewedPull } from "./find-review.ts";
import { isReviewVisible } from "./review-states.ts";

/**
 * Selects comments on code with everything that their JSON shows; one query, any number of rows.
 */
export const selectCodeComments = (db: Database) =>
  db
    .select({
      entry: columnsOf(timelineEntries, "t"),
      code: columnsOf(codeComments, "c"),
      review: columnsOf(reviews, "r"),
      attachments: attachmentsOfEntry("code_attachments"),
      poster: jsonRows(
        users,
        sql`from ${users} where ${users.id} = ${timelineEntries.posterId}`,
        "poster",
      ),
      resolver: jsonRows(
        users,
        sql`
          from ${codeComments} root join ${users} on ${users.id} = root.resolver_id
          where root.entry_id = coalesce(${codeComments.rootId}, ${codeComments.entryId})`,
        "resolver",
      ),
    })
    .from(codeComments)
    .innerJoin(timelineEntries, eq(timelineEntries.id, codeComments.entryId))
    .innerJoin(reviews, eq(reviews.id, codeComments.reviewId))
    .$dynamic();

type CodeCommentQueryRow = Awaited<ReturnType<typeof selectCodeComments>>[number];

export const toCodeCommentContext = (
  pull: IssueNames,
  { poster, resolver, ...row }: CodeCommentQueryRow,
): CodeCommentContext => ({ ...row, pull, poster: poster[0], resolver: resolver[0] });

/**
 * Lists a page of the comments on code of a review, in the order in which they were written.
 *
 * @throws Failure `not_found` also for a pending review of another user, and where the caller may
 *   not see the unit.
 */
export const listReviewComments = (
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  reviewId: number,
  slice: Slice,
): Promise<Listed<CodeCommentContext>> => list(ctx, repo, number, reviewId, slice);

/**
 * Lists a page of the comments on code of a pull request, in the order in which they were written.
 *
 * @throws Failure `not_found` also where the caller may not see the unit.
 */
export const listCodeComments = (
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  slice: Slice,
): Promise<Listed<CodeCommentContext>> => list(ctx, repo, number, undefined, slice);

async function list(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  reviewId: number | undefined,
  { size, offset }: Slice,
): Promise<Listed<CodeCommentContext>> {
  const asked = { ...reviewedPullOf(ctx, repo, number), reviewId, size, offset };
  const {
    pulls: [found],
    ...page
  } = await batch(ctx.db, commentPage(ctx.db, asked));
  const pull = namesOf(repo, number);
  if (!found || !isIssueVisible(repo, pull.row)) throw notFound();
  return toListedPage(page, (row) => toCodeCommentContext(pull, row));
}

interface CommentPage extends ReviewedPull, Slice {
  /** Undefined for the comments of all reviews. */
  readonly reviewId: number | undefined;
}

const commentPage = prepareAll((db, p: Params<CommentPage>) => {
  const { reviewId } = p;
  const isFound =
    reviewId &&
    sql`exists (
      select 1 from ${reviews}
      where ${reviews.id} = ${reviewId} and ${reviews.issueId} = ${issues.id}
        and ${isReviewVisible(p.callerId)}
    )`;
  const isListed = and(isVisibleOf(p), reviewId && eq(codeComments.reviewId, reviewId));
  return {
    pulls: db
      .select({ id: issues.id })
      .from(issues)
      .where(and(isNumbered(p.repoId, p.number), eq(issues.isPull, true), isFound)),
    rows: selectCodeComments(db)
      .where(isListed)
      .orderBy(asc(codeComments.entryId))
      .limit(p.size)
      .offset(p.offset),
    counted: db
      .select({ total: sql<number>`count(*)`.as("total") })
      .from(codeComments)
      .innerJoin(reviews, eq(reviews.id, codeComments.reviewId))
      .where(isListed),
  };
});

const isVisibleOf = ({ repoId, number, callerId }: Params<ReviewedPull>): SQL =>
  allOf(sql`${codeComments.issueId} = ${idOfPull(repoId, number)}`, isReviewVisible(callerId));

const namesOf = (repo: RepositoryContext, number: number): IssueNames => ({
  repo,
  row: { number, isPull: true },
});

/**
 * Finds a comment on code of a pull request.
 *
 * @throws Failure `not_found` also for comments of other pull requests, and of pending reviews of
 *   other users.
 */
export async function findCodeComment(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  id: number,
): Promise<CodeCommentContext> {
  const pull = namesOf(repo, number);
  const [row] = await commentById(ctx.db, { ...reviewedPullOf(ctx, repo, number), id });
  if (!row || !isIssueVisible(repo, pull.row)) throw notFound("comment does not exist");
  return toCodeCommentContext(pull, row);
}

const commentById = prepare((db, { id, ...pull }: Params<ReviewedPull & { id: number }>) =>
  selectCodeComments(db).where(allOf(eq(codeComments.entryId, id), isVisibleOf(pull))),
);

/**
 * Finds comments on code of a pull request, in the order of their ids.
 *
 * Cost: one query.
 *
 * @throws Failure as `findCodeComment`, for any of them.
 */
export async function findCodeComments(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
  ids: readonly number[],
): Promise<CodeCommentContext[]> {
  const pull = namesOf(repo, number);
  const asked = { ...reviewedPullOf(ctx, repo, number), ids };
  const rows = await commentsByIds(ctx.db, asked);
  if (rows.length < new Set(ids).size || !isIssueVisible(repo, pull.row)) {
    throw notFound("comment does not exist");
  }
  return rows.map((row) => toCodeCommentContext(pull, row));
}

const commentsByIds = prepare(
  (db, { ids, ...pull }: Params<ReviewedPull & { ids: readonly number[] }>) =>
    selectCodeComments(db)
      .where(allOf(sql`${codeComments.entryId} in ${ids}`, isVisibleOf(pull)))
      .orderBy(asc(codeComments.entryId)),
);
