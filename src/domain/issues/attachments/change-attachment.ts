import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { attachments, type Attachment } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { toAttachmentName } from "./attachment-name.ts";
import {
  type AttachmentSubject,
  isAttachedTo,
  recordAttaching,
  requireAttaching,
} from "./attachment-subject.ts";
import { typeFailure } from "./attachment-type.ts";
import { isRenamingAllowed } from "./renaming.ts";

/** An attachment with its subject. */
export interface AttachmentOfSubject extends AttachmentSubject {
  readonly attachment: Attachment;
}

/**
 * Renames a file. An empty name, and the one that it has, change nothing.
 *
 * SECURITY: the new name is checked like that of a new file, since it decides how the file is
 * served.
 *
 * @throws Failure as `requireAttaching`; `invalid` for a forbidden type.
 */
export async function renameAttachment(
  ctx: Ctx,
  { attachment, ...subject }: AttachmentOfSubject,
  newName: string,
): Promise<Attachment> {
  requireAttaching(ctx, subject, attachment.uploaderId);
  if (newName === "") return attachment;
  const name = toAttachmentName(newName);
  if (name === attachment.name) return attachment;
  if (!(await isRenamingAllowed(ctx, attachment, name, ctx.config.attachmentTypes)))
    throw typeFailure();
  const { db } = ctx;
  const [[renamed]] = await db.batch([
    db.update(attachments).set({ name }).where(isOwn(subject, attachment)).returning(),
    recordAttaching(ctx, subject),
  ]);
  if (!renamed) throw notFound();
  return renamed;
}

/**
 * Deletes a file. A trigger notes its bytes, which a job removes.
 *
 * @throws Failure as `requireAttaching`.
 */
export async function deleteAttachment(
  ctx: Ctx,
  { attachment, ...subject }: AttachmentOfSubject,
): Promise<void> {
  requireAttaching(ctx, subject, attachment.uploaderId);
  const [deleted] = await ctx.db.batch([
    ctx.db.delete(attachments).where(isOwn(subject, attachment)).returning({ id: attachments.id }),
    recordAttaching(ctx, subject),
  ]);
  // Another request has deleted it meanwhile.
  if (deleted.length === 0) throw notFound();
}

const isOwn = (subject: AttachmentSubject, { id }: Attachment) =>
  and(eq(attachments.id, id), isAttachedTo(subject));
