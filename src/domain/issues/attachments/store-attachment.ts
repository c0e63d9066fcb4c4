import { and, count, eq, sql } from "drizzle-orm";

import { asBlocked, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { attachments, issues, timelineEntries, type Attachment } from "../../../db/schema/index.ts";
import { invalid } from "../../../lib/failure.ts";
import type { FormFile } from "./form-file.ts";
import {
  isKeptOut,
  isParticipationAllowed,
  participationArgument,
} from "../comments/participation.ts";
import {
  type AttachmentSubject,
  isAttachedTo,
  recordAttaching,
  requireAttaching,
} from "./attachment-subject.ts";
import { typeFailure } from "./attachment-type.ts";
import { isNoted } from "../uploads/is-noted.ts";
import { dropNote, isStored, type ReceivedFile, receiveFile } from "./receive-file.ts";

/** The options for a file that a caller attaches. */
interface AttachmentOptions {
  /** Replaces the name in the form. */
  readonly name?: string | undefined;
  /** In milliseconds; the time of the request if undefined. */
  readonly createdAt?: number | undefined;
}

/**
 * Attaches a file to an issue or comment. The bytes are streamed to the object storage before the
 * attachment exists.
 *
 * @throws Failure as `requireAttaching`; `invalid` for a forbidden type and beyond the number of
 *   files; `too_large`.
 */
export async function storeAttachment(
  ctx: Ctx,
  subject: AttachmentSubject,
  file: FormFile,
  options: AttachmentOptions,
): Promise<Attachment> {
  requireAttaching(ctx, subject);
  const { now, config } = ctx;
  const named = { name: options.name || file.name, pieces: file.pieces };
  const rules = { types: config.attachmentTypes, typeFailure };
  const stored = await receiveFile(ctx, subject.issue.repo.owner, named, rules, (received) =>
    insertAttachment(ctx, subject, { ...received, createdAt: options.createdAt ?? now }),
  );
  if (stored) return stored;
  throw invalid(`it has ${config.attachmentCountMax} files already, or can't have files any more`);
}

/**
 * @returns Undefined if the subject can't have the file any more: deleted, locked or full
 *   meanwhile.
 */
async function insertAttachment(
  ctx: Ctx,
  subject: AttachmentSubject,
  file: ReceivedFile & Pick<Attachment, "createdAt">,
): Promise<Attachment | undefined> {
  const { db, now, actor, config } = ctx;
  const { issue, comment } = subject;
  const { uuid } = file;
  const participation = participationArgument(ctx, issue);
  const isPossible = and(
    isParticipationAllowed(participation),
    isNoted(uuid),
    comment &&
      sql`exists (
        select 1
        from ${timelineEntries}
        where ${timelineEntries.id} = ${comment.row.id}
      )`,
    sql`(
      select ${count()}
      from ${attachments}
      where ${isAttachedTo(subject)}
    ) < ${config.attachmentCountMax}`,
  );
  const row = {
    ...file,
    name: unlessBlocked(isKeptOut(participation), file.name),
    repoId: issue.repo.row.id,
    issueId: issue.row.id,
    entryId: comment?.row.id ?? null,
    uploaderId: actor.user?.id ?? null,
  };
  try {
    const { found } = await batch(db, {
      attachment: insertSelect(db, attachments, row, sql`from ${issues} where ${isPossible}`),
      event: recordAttaching(ctx, subject),
      note: dropNote(ctx, uuid),
      issue: db
        .update(issues)
        .set({ updatedAt: now })
        .where(and(eq(issues.id, issue.row.id), isStored(uuid))),
      found: db.select().from(attachments).where(eq(attachments.uuid, uuid)),
    });
    return found[0];
  } catch (error) {
    throw asBlocked(error, "attachments.name");
  }
}
