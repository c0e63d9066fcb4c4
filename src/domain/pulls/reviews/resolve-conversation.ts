import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { codeComments } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import type { CodeCommentContext } from "../../../shapes/pulls/pull-review-comment.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { requireParticipation } from "../../issues/comments/participation.ts";
import { eventSubject } from "../../issues/issue/event-subject.ts";
import { isIssueWritable } from "../../issues/issue/find-issue.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";

/**
 * Resolves the conversation that a comment on code is part of, or reopens it. Where it is so
 * already, nothing changes.
 *
 * @throws Failure `forbidden` for others than the poster, the author of the comment and those who
 * may write to pull requests; `invalid` while its review is pending; `locked` in an archived
 * repository.
 */
export async function markConversation(
  ctx: Ctx,
  pull: PullContext,
  { entry, code, review }: CodeCommentContext,
  isResolved: boolean,
): Promise<void> {
  requireParticipation(pull, "You cannot resolve a conversation of a locked pull request.");
  const callerId = ctx.actor.user?.id ?? null;
  const isOwn = [pull.row.posterId, entry.posterId].includes(callerId);
  if (!isIssueWritable(pull) && !isOwn) {
    throw forbidden("only the poster, its author and those with write access may resolve it");
  }
  requireNotArchived(pull.repo);
  if (review.state === "pending") throw invalid("the review is pending");
  const { resolvedAt } = codeComments;
  const { isPull: _, ...subject } = eventSubject(pull);
  const commentId = code.rootId ?? code.entryId;
  await ctx.db.batch([
    ctx.db
      .update(codeComments)
      .set(
        isResolved
          ? { resolverId: callerId, resolvedAt: ctx.now }
          : { resolverId: null, resolvedAt: sql`null` },
      )
      .where(
        and(
          eq(codeComments.entryId, commentId),
          isResolved ? isNull(resolvedAt) : isNotNull(resolvedAt),
        ),
      ),
    recordIfChanged(ctx, {
      type: isResolved ? "conversation.resolved" : "conversation.reopened",
      ...subject,
      commentId,
    }),
  ]);
}
