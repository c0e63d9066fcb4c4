import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { reviews } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { forbidden, invalid, notFound } from "../../../lib/failure.ts";
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
 * for a request, which is taken back; `locked` in an archived repository; `not_found` if another
 * request has deleted it meanwhile.
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
  const { deleted } = await batch(ctx.db, {
    answers: keepAnswers(ctx.db, { reviewId: id }),
    deleted: ctx.db
      .delete(reviews)
      .where(and(eq(reviews.id, id), eq(reviews.issueId, pull.row.id)))
      .returning({ id: reviews.id }),
    // Nobody but its author knew of a pending one.
    event:
      row.state === "pending"
        ? undefined
        : recordIfChanged(ctx, { type: "review.deleted", ...subject, reviewId: id }),
    official: isOfficial ? restoreOfficial(ctx.db, pull.row.id, sql`(${reviewerId})`) : undefined,
  });
  if (deleted.length === 0) throw notFound();
}
