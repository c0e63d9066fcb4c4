import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { attachmentLooseFiles, attachments, type Attachment } from "../../../db/schema/index.ts";
import { type Failure, tooLarge } from "../../../lib/failure.ts";
import { log } from "../../../lib/log.ts";
import type { StoredBytes } from "../../../storage/hashed-files.ts";
import { type LimitedOwner, requireRoom } from "../../people/quotas/owner-quota.ts";
import { toAttachmentName } from "./attachment-name.ts";
import { ATTACHMENT_HEAD_BYTES, isTypeAllowed } from "./attachment-type.ts";
import type { FormFile } from "./form-file.ts";

/** Maximum duration of an upload, in milliseconds. */
const UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000;

const MIB = 1024 * 1024;

/** The rules for a file. */
interface FileRules {
  /** Endings and media types, as the configuration has them; none allow all. */
  readonly types: readonly string[];
  /** The refusal of another type. */
  readonly typeFailure: () => Failure;
}

/** A file in the object storage that no attachment refers to yet. */
export interface ReceivedFile extends LooseFile {
  readonly name: string;
}

/**
 * Streams a file into the object storage and lets `insert` store its attachment.
 *
 * A row in `attachment_loose_files` is inserted before the first byte is written; `insert` deletes
 * it in the batch that inserts the attachment, by `dropNote`, unless no text has claimed the file
 * yet. If a Worker dies in between, a job deletes the file.
 *
 * @param insert Inserts the attachment while `isNoted` holds; undefined if it can't be attached any
 *   more.
 * @returns What `insert` returned.
 * @param owner Who owns the repository; undefined for a file that may exceed what they may store.
 * @throws Failure `too_large`, also beyond what the owner may store, and the refusal of the type.
 */
export async function receiveFile(
  ctx: Ctx,
  owner: LimitedOwner | undefined,
  file: FormFile,
  { types, typeFailure }: FileRules,
  insert: (received: ReceivedFile) => Promise<Attachment | undefined>,
): Promise<Attachment | undefined> {
  const { config } = ctx;
  const name = toAttachmentName(file.name);
  const { head, pieces } = await readHead(file.pieces);
  if (!isTypeAllowed(types, name, head)) {
    await pieces.return(undefined);
    throw typeFailure();
  }
  const stored = await storeLooseFile(ctx, pieces, config.attachmentMaxMib * MIB);
  const { uuid } = stored;
  try {
    if (owner) await requireRoom(ctx, owner, stored.sizeBytes);
  } catch (error) {
    dropLooseFile(ctx, uuid);
    throw error;
  }
  // If this throws, it is unknown whether the attachment exists, so the file is kept until its row
  // expires.
  const attachment = await insert({ name, ...stored });
  if (!attachment) dropLooseFile(ctx, uuid);
  return attachment;
}

/** A file that was stored, and that nothing refers to. */
export interface LooseFile extends StoredBytes<"sha256"> {
  readonly uuid: string;
}

/**
 * Streams a file into the object storage. Its row in `attachment_loose_files`, which is inserted
 * before the first byte is written, expires after a day: then nothing may refer to the file, and a
 * job deletes it.
 *
 * @throws Failure `too_large` beyond `bytesMax`; nothing is left then.
 */
export async function storeLooseFile(
  ctx: Ctx,
  pieces: AsyncGenerator<Uint8Array>,
  bytesMax: number,
): Promise<LooseFile> {
  const uuid = crypto.randomUUID();
  const expiresAt = ctx.now + UPLOAD_LIFE_MS;
  await ctx.db.insert(attachmentLooseFiles).values({ uuid, expiresAt });
  try {
    return { uuid, ...(await ctx.git.attachmentFiles.receive(uuid, bound(pieces, bytesMax))) };
  } catch (error) {
    dropLooseFile(ctx, uuid);
    throw error;
  }
}

/** The condition that the attachment of a file is stored. */
export const isStored = (uuid: string): SQL => sql`exists (
  select 1
  from ${attachments}
  where ${attachments.uuid} = ${uuid}
)`;

/** The statement that deletes the note of a file whose attachment is stored. */
export const dropNote = ({ db }: Ctx, uuid: string) =>
  db.delete(attachmentLooseFiles).where(and(eq(attachmentLooseFiles.uuid, uuid), isStored(uuid)));

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

const formatMax = (bytes: number): string =>
  bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`;

/** The same pieces, as far as they are within a size. */
async function* bound(
  pieces: AsyncGenerator<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLarge(`the file is larger than ${formatMax(bytesMax)}`);
    yield piece;
  }
}

/**
 * Deletes a file that was not attached, and its row. On failure, a job deletes them.
 *
 * SECURITY: call this only if the file certainly was not attached.
 */
export function dropLooseFile(ctx: Ctx, uuid: string): void {
  const drop = async (): Promise<void> => {
    await ctx.git.attachmentFiles.delete([uuid]);
    await ctx.db.delete(attachmentLooseFiles).where(eq(attachmentLooseFiles.uuid, uuid));
  };
  ctx.defer(drop().catch(() => log("attachment:not-dropped", { uuid })));
}
