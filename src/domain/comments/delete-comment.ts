import type { Ctx } from "../../context.ts";
import { OWNER_PERMISSION, timelineEntries } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { toCommentPayload } from "../../events/webhooks/payloads/issue-payload.ts";
import { openReceiver } from "../../events/webhooks/payloads/open-receiver.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { eventSubject } from "../issues/event-subject.ts";
import { requireNotArchived } from "../issues/require-issue-access.ts";
import { type CommentOfIssue, requireOwnComment } from "./edit-comment.ts";
import { isCommentOf } from "./find-comment.ts";

/**
 * Deletes a comment with its reactions, files, history, and the references that it made in other timelines. Foreign keys
 * cascade the deletion; a job removes the bytes of the files.
 *
 * @throws Failure `forbidden` for others than the poster and writers; `locked` in an archived repository.
 */
export async function deleteComment(ctx: Ctx, { comment, issue }: CommentOfIssue): Promise<void> {
  requireOwnComment(ctx, { comment, issue });
  requireNotArchived(issue.repo);
  // SECURITY: the payload is built with the owner's permission, as for every hook.
  const { row, owner } = issue.repo;
  const repo: RepositoryContext = { row, owner, permission: OWNER_PERMISSION };
  const context = { repo, sender: ctx.actor.user, viewer: openReceiver(ctx) };
  await ctx.db.batch([
    ctx.db.delete(timelineEntries).where(isCommentOf(repo, comment.row.id)),
    recordIfChanged(ctx, {
      type: "comment.deleted",
      ...eventSubject(issue),
      commentId: comment.row.id,
      lastPayload: toCommentPayload(context, "deleted", issue, comment),
    }),
  ]);
}
