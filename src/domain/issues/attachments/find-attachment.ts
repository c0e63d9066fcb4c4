import type { Ctx } from "../../../context.ts";
import type { Attachment } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findCommentAndIssue } from "../comments/find-comment.ts";
import { findIssue } from "../issue/find-issue.ts";
import { type AttachmentSubject, requireAttachmentsOn } from "./attachment-subject.ts";
import type { AttachmentOfSubject } from "./change-attachment.ts";

/**
 * The name of a subject of attachments in a repository: the number of an issue or pull request, or
 * the id of a comment.
 */
export type SubjectName = { readonly index: number } | { readonly id: number };

/**
 * Finds the subject of attachments.
 *
 * @throws Failure `not_found` also where the caller may not see it, and where attachments are
 *   switched off.
 */
export async function findSubject(
  ctx: Ctx,
  repo: RepositoryContext,
  name: SubjectName,
): Promise<AttachmentSubject> {
  requireAttachmentsOn(ctx);
  if ("id" in name) return findCommentAndIssue(ctx, repo, name.id);
  return { issue: await findIssue(ctx, repo, name.index) };
}

/** The files of an issue itself or of a comment, oldest first. Their number is bounded. */
export const filesOf = ({ issue, comment }: AttachmentSubject): readonly Attachment[] =>
  (comment ?? issue).attachments;

/** Finds a file of an issue itself or of a comment, as `findSubject` does. */
export async function findAttachment(
  ctx: Ctx,
  repo: RepositoryContext,
  name: SubjectName,
  attachmentId: number,
): Promise<AttachmentOfSubject> {
  const subject = await findSubject(ctx, repo, name);
  const attachment = filesOf(subject).find(({ id }) => id === attachmentId);
  if (!attachment) throw notFound("attachment does not exist");
  return { ...subject, attachment };
}
