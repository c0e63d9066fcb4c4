import { and, eq, sql } from "drizzle-orm";

import { asBlocked, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { timelineEntries } from "../../../db/schema/index.ts";
import { conflict, forbidden, notFound } from "../../../lib/failure.ts";
import type { CommentContext } from "../../../shapes/issues/comment.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { claimUploads } from "../uploads/claim-uploads.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { isIssueWritable } from "../issue/find-issue.ts";
import {
  editArgument,
  type EditArgument,
  insertOriginal,
  insertVersion,
} from "../issue/insert-version.ts";
import { requireNotArchived } from "../issue/require-issue-access.ts";
import { isCommentWithKey, oneComment, toCommentKey, type CommentKey } from "./find-comment.ts";
import {
  isKeptOut,
  participationArgument,
  type ParticipationArgument,
  requireUnitOn,
} from "./participation.ts";
import { recordOfComment } from "./record-of-comment.ts";
import { toCommentContext } from "./select-comments.ts";

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
 * Changes the text of a comment, and keeps the former one in its history. The same text again
 * changes nothing.
 *
 * @param basis The version of the text that was changed; by default the present one.
 * @throws Failure `forbidden` for others than the poster and writers, and where a block keeps the
 * caller out; `conflict` if somebody else has changed the text since it was read; `locked` in an
 * archived repository.
 */
export async function editComment(
  ctx: Ctx,
  { comment, issue }: CommentOfIssue,
  body: string,
  basis?: number,
): Promise<CommentContext> {
  requireOwnComment(ctx, { comment, issue });
  requireNotArchived(issue.repo);
  const { row } = comment;
  if (row.body === body) return comment;
  if (basis !== undefined && basis !== row.contentVersion) throw changedMeanwhile();
  const { db } = ctx;
  const { id, contentVersion } = row;
  const key = toCommentKey(ctx, issue.repo, id);
  const edit = {
    comment: key,
    contentVersion,
    nextVersion: contentVersion + 1,
    issueId: row.issueId,
    participation: participationArgument(ctx, issue),
    edit: editArgument(ctx, body),
  };
  const statements = updateComment(db, edit);
  const isEdited = and(eq(timelineEntries.id, id), eq(timelineEntries.body, body));
  const editedId = sql<number>`(
    select ${timelineEntries.id} from ${timelineEntries} where ${isEdited}
  )`;
  const { updated, found } = await batch(db, {
    ...statements,
    event: recordOfComment(ctx, row, {
      type: "comment.edited",
      ...eventSubject(issue),
      commentId: id,
      from: row.body,
    }),
    claims: claimUploads(
      ctx,
      { repoId: row.repoId, issueId: row.issueId, entryId: editedId },
      body,
    ),
    found: oneComment(db, key),
  }).catch((error: unknown) => {
    throw asBlocked(error, "timeline_entries.body");
  });
  const [edited] = found;
  if (!edited) throw notFound("comment does not exist");
  if (!updated[0]) throw changedMeanwhile();
  return toCommentContext(issue.repo, edited);
}

const changedMeanwhile = () => conflict("the comment was changed meanwhile: try again");

interface EditedComment {
  readonly comment: CommentKey;
  readonly contentVersion: number;
  readonly nextVersion: number;
  readonly issueId: number;
  readonly participation: ParticipationArgument;
  readonly edit: EditArgument;
}

const updateComment = prepareAll((db, p: Params<EditedComment>) => {
  const { comment, issueId, edit } = p;
  const text = { issueId, entryId: comment.id };
  const isUnchanged = and(
    isCommentWithKey(comment),
    eq(timelineEntries.contentVersion, p.contentVersion),
  );
  return {
    original: insertOriginal(db, text, isUnchanged),
    updated: db
      .update(timelineEntries)
      .set({
        body: unlessBlocked(isKeptOut(p.participation), edit.body),
        contentVersion: p.nextVersion,
        updatedAt: edit.createdAt,
      })
      .where(isUnchanged)
      .returning({ id: timelineEntries.id }),
    version: insertVersion(db, text, edit, sql`where changes() > 0`),
  };
});
