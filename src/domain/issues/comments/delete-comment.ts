import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { timelineEntries } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { CommentPayload } from "../../../shapes/webhooks/issue-payloads.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { requireNotArchived } from "../issue/require-issue-access.ts";
import { type CommentOfIssue, requireOwnComment } from "./edit-comment.ts";
import { isCommentWithKey, toCommentKey, type CommentKey } from "./find-comment.ts";
import { keepAnswers } from "./keep-answers.ts";
import { recordOfComment } from "./record-of-comment.ts";

/**
 * Deletes a comment with its reactions, files, history, and the references that it made in other
 * timelines. Foreign keys cascade the deletion; a job removes the bytes of the files.
 *
 * @param toLastPayload Returns the payload for hooks, since the comment can't be read any more.
 * @throws Failure `forbidden` for others than the poster and writers; `locked` in an archived
 *   repository; `not_found` if another request has deleted it meanwhile.
 */
export async function deleteComment(
  ctx: Ctx,
  { comment, issue }: CommentOfIssue,
  toLastPayload: (ctx: Ctx, deleted: CommentOfIssue) => Promise<CommentPayload>,
): Promise<void> {
  requireOwnComment(ctx, { comment, issue });
  requireNotArchived(issue.repo);
  const lastPayload = await toLastPayload(ctx, { comment, issue });
  const { deleted } = await batch(ctx.db, {
    answers: keepAnswers(ctx.db, { entryId: comment.row.id }),
    deleted: removeComment(ctx.db, toCommentKey(ctx, issue.repo, comment.row.id)),
    event: recordOfComment(ctx, comment.row, {
      type: "comment.deleted",
      ...eventSubject(issue),
      commentId: comment.row.id,
      lastPayload,
    }),
  });
  if (deleted.length === 0) throw notFound();
}

const removeComment = prepare((db, key: Params<CommentKey>) =>
  db.delete(timelineEntries).where(isCommentWithKey(key)).returning({ id: timelineEntries.id }),
);
