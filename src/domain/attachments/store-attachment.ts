import { and, count, eq, sql } from "drizzle-orm";

import { asBlocked, unlessBlocked } from "../../auth/access/blocks.ts";
import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  attachmentLooseFiles,
  attachments,
  issues,
  timelineEntries,
  type Attachment,
} from "../../db/schema/index.ts";
import { invalid, tooLarge } from "../../lib/failure.ts";
import { log } from "../../lib/log.ts";
import type { FormFile } from "./form-file.ts";
import { isKeptOut, isParticipationAllowed } from "../comments/participation.ts";
import { toAttachmentName } from "./attachment-name.ts";
import {
  type AttachmentSubject,
  isAttachedTo,
  recordAttaching,
  requireAttaching,
} from "./attachment-subject.ts";
import { ATTACHMENT_HEAD_BYTES, isTypeAllowed, typeFailure } from "./attachment-type.ts";

/** Maximum duration of an upload, in milliseconds. */
const UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000;

const MIB = 1024 * 1024;

/** What a caller says of a file that they attach. */
interface AttachmentOptions {
  /** In place of the name that the form has. */
  readonly name?: string | undefined;
  /** In milliseconds; the time of the request if undefined. */
  readonly createdAt?: number | undefined;
}

/**
 * Attaches a file to an issue or comment. The bytes are streamed to the object storage before the attachment exists.
 *
 * A row in `attachment_loose_files` is inserted before the first byte is written, and deleted in the batch that inserts
 * the attachment. If a Worker dies in between, a job deletes the file.
 *
 * @throws Failure as `requireAttaching`; `invalid` for a forbidden type and beyond the number of files; `too_large`.
 */
export async function storeAttachment(
  ctx: Ctx,
  subject: AttachmentSubject,
  file: FormFile,
  options: AttachmentOptions,
): Promise<Attachment> {
  requireAttaching(ctx, subject);
  const { db, git, now, config } = ctx;
  const name = toAttachmentName(options.name || file.name);
  const { head, pieces } = await readHead(file.pieces);
  if (!isTypeAllowed(config.attachmentTypes, name, head)) {
    await pieces.return(undefined);
    throw typeFailure();
  }
  const uuid = crypto.randomUUID();
  await db.insert(attachmentLooseFiles).values({ uuid, expiresAt: now + UPLOAD_LIFE_MS });
  let sizeBytes: number;
  try {
    const bounded = bound(pieces, config.attachmentMaxMib * MIB);
    sizeBytes = await git.attachmentFiles.receive(uuid, bounded);
  } catch (error) {
    dropLater(ctx, uuid);
    throw error;
  }
  const row = { uuid, name, sizeBytes, createdAt: options.createdAt ?? now };
  // If this throws, it is unknown whether the attachment exists, so the file is kept until its row expires.
  const stored = await insertAttachment(ctx, subject, row);
  if (stored) return stored;
  dropLater(ctx, uuid);
  throw invalid(`it has ${config.attachmentCountMax} files already, or can't have files any more`);
}

/** Reads the start of a file. The pieces begin with it. */
async function readHead(pieces: AsyncGenerator<Uint8Array>) {
  const read: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < ATTACHMENT_HEAD_BYTES) {
    const { value, done } = await pieces.next();
    if (done) break;
    read.push(value);
    bytes += value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* read;
      yield* pieces;
    } finally {
      await pieces.return(undefined);
    }
  }
  return { head: new Uint8Array(await new Blob(read as BlobPart[]).arrayBuffer()), pieces: all() };
}

/** The same pieces, as far as they are within a size. */
async function* bound(
  pieces: AsyncGenerator<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLarge(`the file is larger than ${bytesMax / MIB} MiB`);
    yield piece;
  }
}

/** @returns Undefined if the subject can't have the file any more: deleted, locked or full meanwhile. */
async function insertAttachment(
  ctx: Ctx,
  subject: AttachmentSubject,
  file: Pick<Attachment, "uuid" | "name" | "sizeBytes" | "createdAt">,
): Promise<Attachment | undefined> {
  const { db, now, actor, config } = ctx;
  const { issue, comment } = subject;
  const { uuid } = file;
  const isLoose = and(
    eq(attachmentLooseFiles.uuid, uuid),
    // By the database's clock when the statement runs.
    sql`${attachmentLooseFiles.expiresAt} > unixepoch() * 1000`,
  );
  const isPossible = and(
    isParticipationAllowed(issue),
    sql`exists (select 1 from ${attachmentLooseFiles} where ${isLoose})`,
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
    name: unlessBlocked(isKeptOut(ctx, issue), file.name),
    repoId: issue.repo.row.id,
    issueId: issue.row.id,
    entryId: comment?.row.id ?? null,
    uploaderId: actor.user?.id ?? null,
  };
  const isStored = sql`exists (
    select 1
    from ${attachments}
    where ${attachments.uuid} = ${uuid}
  )`;
  const results = await db
    .batch([
      insertSelect(db, attachments, row, sql`from ${issues} where ${isPossible}`),
      recordAttaching(ctx, subject),
      db.delete(attachmentLooseFiles).where(and(eq(attachmentLooseFiles.uuid, uuid), isStored)),
      db
        .update(issues)
        .set({ updatedAt: now })
        .where(and(eq(issues.id, issue.row.id), isStored)),
      db.select().from(attachments).where(eq(attachments.uuid, uuid)),
    ])
    .catch((error: unknown) => {
      throw asBlocked(error, "attachments.name");
    });
  return results[4][0];
}

/**
 * Deletes a file that was not attached, and its row. On failure, a job deletes them.
 *
 * SECURITY: call this only if the file certainly was not attached.
 */
function dropLater(ctx: Ctx, uuid: string): void {
  const drop = async (): Promise<void> => {
    await ctx.git.attachmentFiles.delete([uuid]);
    await ctx.db.delete(attachmentLooseFiles).where(eq(attachmentLooseFiles.uuid, uuid));
  };
  ctx.defer(drop().catch(() => log("attachment:not-dropped", { uuid })));
}
