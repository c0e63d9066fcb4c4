import { and, eq } from "drizzle-orm";

import { asBlocked, unlessBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { timelineEntries } from "../../db/schema/index.ts";
import { conflict, forbidden, notFound } from "../../lib/failure.ts";
import type { CommentContext } from "../../shapes/issues/comment.ts";
import type { IssueContext } from "../../shapes/issues/issue.ts";
import { eventSubject } from "../issues/event-subject.ts";
import { isIssueWritable } from "../issues/find-issue.ts";
import { insertOriginal, insertVersionIfChanged } from "../issues/insert-version.ts";
import { requireNotArchived } from "../issues/require-issue-access.ts";
import { isCommentOf } from "./find-comment.ts";
import { isKeptOut, requireUnitOn } from "./participation.ts";
import { recordOfComment } from "./record-of-comment.ts";
import { selectComments, toCommentContext } from "./select-comments.ts";

/** A comment with its issue. */
export interface CommentOfIssue {
  readonly comment: CommentContext;
  readonly issue: IssueContext;
}

/** Asserts that the caller wrote the comment, or may write to the unit of its issue. */
export function requireOwnComment({ actor }: Ctx, { comment, issue }: CommentOfIssue): void {
  requireUnitOn(issue);
  const isPoster = actor.user !== undefined && actor.user.id === comment.row.posterId;
  if (!isPoster && !isIssueWritable(issue)) {
    throw forbidden("user should have permission to edit comment");
  }
}

/**
 * Changes the text of a comment, and keeps the former one in its history. The same text again changes nothing.
 *
 * @throws Failure `forbidden` for others than the poster and writers, and where a block keeps the caller out; `conflict`
 * if somebody else has changed the text since it was read; `locked` in an archived repository.
 */
export async function editComment(
  ctx: Ctx,
  { comment, issue }: CommentOfIssue,
  body: string,
): Promise<CommentContext> {
  requireOwnComment(ctx, { comment, issue });
  requireNotArchived(issue.repo);
  const { row } = comment;
  if (row.body === body) return comment;
  const { db, now } = ctx;
  const { id, contentVersion } = row;
  const text = { issueId: row.issueId, entryId: id };
  const isUnchanged = and(
    isCommentOf(ctx, issue.repo, id),
    eq(timelineEntries.contentVersion, contentVersion),
  );
  const [, updated, , , [edited]] = await db
    .batch([
      insertOriginal(ctx, text, isUnchanged),
      db
        .update(timelineEntries)
        .set({
          body: unlessBlocked(isKeptOut(ctx, issue), body),
          contentVersion: contentVersion + 1,
          updatedAt: now,
        })
        .where(isUnchanged)
        .returning({ id: timelineEntries.id }),
      insertVersionIfChanged(ctx, text, body),
      recordOfComment(ctx, row, {
        type: "comment.edited",
        ...eventSubject(issue),
        commentId: id,
        from: row.body,
      }),
      selectComments(db).where(isCommentOf(ctx, issue.repo, id)),
    ])
    .catch((error: unknown) => {
      throw asBlocked(error, "timeline_entries.body");
    });
  if (!edited) throw notFound("comment does not exist");
  if (!updated[0]) throw conflict("the comment was changed meanwhile: try again");
  return toCommentContext(issue.repo, edited);
}
