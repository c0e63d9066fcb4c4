import { and, eq, isNull, type SQL } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { attachments } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import type { CommentContext } from "../../../shapes/issues/comment.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";
import { requireParticipation, requireUnitOn } from "../comments/participation.ts";
import { recordOfComment } from "../comments/record-of-comment.ts";
import { eventSubject } from "../issue/event-subject.ts";
import { isIssueWritable } from "../issue/find-issue.ts";
import { mayEditIssue, requireNotArchived } from "../issue/require-issue-access.ts";

/** The subject of attachments: an issue, a pull request, or a comment. */
export interface AttachmentSubject {
  readonly issue: IssueContext;
  /** Undefined for files of the issue itself. */
  readonly comment?: CommentContext;
}

/** The condition for the files of a subject. */
export const isAttachedTo = ({ issue, comment }: AttachmentSubject): SQL | undefined =>
  and(
    eq(attachments.issueId, issue.row.id),
    comment ? eq(attachments.entryId, comment.row.id) : isNull(attachments.entryId),
  );

/**
 * Refuses callers who may not change the files of a subject: others than the poster of an issue and
 * writers, and others than writers for a comment, as in Gitea. Users may change what they uploaded.
 *
 * @param uploaderId The uploader of a file that exists.
 * @throws Failure `forbidden`; `locked` in an archived repository; `not_found` where attachments
 *   are switched off.
 */
export function requireAttaching(
  ctx: Ctx,
  { issue, comment }: AttachmentSubject,
  uploaderId: number | null = null,
): void {
  requireAttachmentsOn(ctx);
  requireUnitOn(issue);
  const isOwn = uploaderId !== null && uploaderId === ctx.actor.user?.id;
  if (!isOwn && (comment ? !isIssueWritable(issue) : !mayEditIssue(ctx, issue))) {
    throw forbidden(
      comment
        ? "user should have permission to edit comment"
        : "user should have permission to write issue",
    );
  }
  requireParticipation(issue, "the issue is locked");
  requireNotArchived(issue.repo);
}

/** @throws Failure `not_found` where attachments are switched off. */
export function requireAttachmentsOn({ config }: Ctx): void {
  if (!config.areAttachmentsOn) throw notFound("attachments are disabled");
}

/** @throws Failure `forbidden` for others than administrators of the repository. */
export function requireDating({ repo }: IssueContext): void {
  if (!isAllowed(repo, { mode: "admin" })) {
    throw forbidden("only administrators of the repository may set times");
  }
}

/**
 * The event of a change of the files, if the previous statement changed a row: an edit of their
 * subject.
 */
export const recordAttaching = (ctx: Ctx, { issue, comment }: AttachmentSubject) =>
  comment
    ? recordOfComment(ctx, comment.row, {
        type: "comment.edited",
        ...eventSubject(issue),
        commentId: comment.row.id,
        from: comment.row.body,
      })
    : recordIfChanged(ctx, { type: "issue.edited", ...eventSubject(issue), from: {} });
