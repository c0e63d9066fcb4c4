import { and, asc, inArray, lte } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { attachmentLooseFiles, attachments } from "../../../db/schema/index.ts";
import { removeLoose } from "../../code/loose-files/remove-loose.ts";
import { isUnclaimed } from "../uploads/claim-uploads.ts";

/** Uploads that one run deletes; the next run continues. */
const UPLOADS_MAX = 20_000;

/**
 * Deletes uploads that no text has claimed in time, and the files of deleted attachments and of
 * uploads that did not end.
 */
export async function removeLooseAttachments(ctx: Ctx): Promise<void> {
  const { db, now } = ctx;
  const due = db
    .select({ uuid: attachmentLooseFiles.uuid })
    .from(attachmentLooseFiles)
    .where(lte(attachmentLooseFiles.expiresAt, now))
    .orderBy(asc(attachmentLooseFiles.expiresAt))
    .limit(UPLOADS_MAX);
  await db.delete(attachments).where(and(inArray(attachments.uuid, due), isUnclaimed));
  await removeLoose(ctx, attachmentLooseFiles, ctx.git.attachmentFiles);
}
