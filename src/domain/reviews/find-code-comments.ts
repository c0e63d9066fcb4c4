import { and, asc, eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf, type Database } from "../../db/db.ts";
import { jsonRows } from "../../db/json-rows.ts";
import { codeComments, reviews, timelineEntries, users } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import type { IssueNames } from "../../shapes/issues/issue.ts";
import type { CodeCommentContext } from "../../shapes/pulls/pull-review-comment.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../shapes/pulls/pull-review.ts";
import type { Listed, Slice } from "../slice.ts";
import { isReviewVisible } from "./review-states.ts";

/** Selects comments on code with everything that their JSON shows; one query, any number of rows. */
const selectCodeComments = (db: Database) =>
  db
    .select({
      entry: columnsOf(timelineEntries, "t"),
      code: columnsOf(codeComments, "c"),
      review: columnsOf(reviews, "r"),
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

const toContext = (
  pull: IssueNames,
  { poster, resolver, ...row }: CodeCommentQueryRow,
): CodeCommentContext => ({ ...row, pull, poster: poster[0], resolver: resolver[0] });

/** Lists a page of the comments on code of a review that the caller sees, in the order in which they were written. */
export const listReviewComments = (ctx: Ctx, { pull, row }: ReviewContext, slice: Slice) =>
  list(ctx, pull, eq(codeComments.reviewId, row.id), slice);

/** Lists a page of the comments on code of a pull request, in the order in which they were written. */
export const listCodeComments = (ctx: Ctx, pull: PullContext, slice: Slice) =>
  list(ctx, pull, eq(codeComments.issueId, pull.row.id), slice);

async function list(
  ctx: Ctx,
  pull: IssueNames,
  condition: SQL,
  { size, offset }: Slice,
): Promise<Listed<CodeCommentContext>> {
  const isListed = and(condition, isReviewVisible(ctx));
  const [rows, [counted]] = await ctx.db.batch([
    selectCodeComments(ctx.db)
      .where(isListed)
      .orderBy(asc(codeComments.entryId))
      .limit(size)
      .offset(offset),
    ctx.db
      .select({ total: sql<number>`count(*)`.as("total") })
      .from(codeComments)
      .innerJoin(reviews, eq(reviews.id, codeComments.reviewId))
      .where(isListed),
  ]);
  return { items: rows.map((row) => toContext(pull, row)), total: counted?.total ?? 0 };
}

/**
 * Finds a comment on code of a pull request.
 *
 * @throws Failure `not_found` also for comments of other pull requests, and of pending reviews of other users.
 */
export async function findCodeComment(
  ctx: Ctx,
  pull: PullContext,
  id: number,
): Promise<CodeCommentContext> {
  const [row] = await selectCodeComments(ctx.db).where(
    and(eq(codeComments.entryId, id), eq(codeComments.issueId, pull.row.id), isReviewVisible(ctx)),
  );
  if (!row) throw notFound("comment does not exist");
  return toContext(pull, row);
}
