import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { reviews } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import { keepAnswers } from "../../issues/comments/keep-answers.ts";
import { eventSubject } from "../../issues/issue/event-subject.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { restoreOfficial } from "./review-states.ts";

/**
 * Deletes a review with its comments. Conversations that others answered in go on with the first
 * answer.
 *
 * @throws Failure `forbidden` for others than its author and administrators of the site; `invalid`
 * for a request, which is taken back; `locked` in an archived repository.
 */
export async function deleteReview(
  ctx: Ctx,
  pull: PullContext,
  { row }: ReviewContext,
): Promise<void> {
  const { user, isSiteAdmin } = ctx.actor;
  const isAuthor = row.reviewerId !== null && row.reviewerId === user?.id;
  if (!isAuthor && !isSiteAdmin) throw forbidden("only its author may delete a review");
  requireNotArchived(pull.repo);
  if (row.state === "request_review") {
    throw invalid("review request can not be deleted using this method");
  }
  const { id, reviewerId, isOfficial } = row;
  const { isPull: _, ...subject } = eventSubject(pull);
  await ctx.db.batch([
    ...keepAnswers(ctx.db, { reviewId: id }),
    ctx.db.delete(reviews).where(and(eq(reviews.id, id), eq(reviews.issueId, pull.row.id))),
    // Nobody but its author knew of a pending one.
    ...(row.state === "pending"
      ? []
      : [recordIfChanged(ctx, { type: "review.deleted", ...subject, reviewId: id })]),
    ...(isOfficial ? [restoreOfficial(ctx.db, pull.row.id, sql`(${reviewerId})`)] : []),
  ]);
}
