import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { packageLooseFiles, packageUploads } from "../../../db/schema/index.ts";
import { CallerLeft } from "../../../lib/step-budget.ts";
import { boundPieces } from "../package/receive-blob.ts";
import { CountedPieces } from "./counted-pieces.ts";
import type { BlobUpload, UploadState } from "./find-upload.ts";
import { imageFailure } from "./image-failure.ts";

/**
 * Maximum parts of an upload: their entity tags are in one row. With parts of 8 MiB these are 40
 * GB.
 */
const PARTS_MAX = 5000;

/** A chunk of an upload. */
export interface Chunk {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** As it was announced. */
  readonly sizeBytes?: number | undefined;
  /** Whether it is likely all of the blob: clients that send several say where each begins. */
  readonly isLikelyWhole?: boolean;
}

/**
 * Appends bytes to an upload. If the caller leaves, what has arrived is kept: a client that comes
 * back asks for the size.
 *
 * @returns The bytes that the upload has now; undefined if another request has appended meanwhile.
 * @throws Failure `forbidden` beyond the limit for files of images; `malformed` if more or fewer
 *   bytes come than announced.
 */
export function appendUpload(
  ctx: Ctx,
  upload: BlobUpload,
  chunk: Chunk,
): Promise<number | undefined> {
  const work = append(ctx, upload, chunk);
  // The platform ends the work of a request whose caller left, unless it is deferred.
  ctx.defer(work.catch(() => {}));
  return work;
}

async function append(
  ctx: Ctx,
  upload: BlobUpload,
  { pieces, sizeBytes, isLikelyWhole }: Chunk,
): Promise<number | undefined> {
  const counted = new CountedPieces(pieces);
  const partial = await receivePieces(ctx, upload, counted, isLikelyWhole);
  if (!counted.hasLeft) requireSize(counted.sizeBytes, sizeBytes);
  const receivedBytes = upload.receivedBytes + counted.sizeBytes;
  const isSaved = await saveProgress(ctx, upload, receivedBytes, partial);
  if (counted.hasLeft) throw new CallerLeft();
  return isSaved ? receivedBytes : undefined;
}

/**
 * Stores pieces after what an upload has, without a note of it: the caller saves or completes it.
 */
export async function receivePieces(
  { git, config }: Ctx,
  { uuid, state, receivedBytes }: BlobUpload,
  pieces: AsyncIterable<Uint8Array>,
  isLikelyWhole?: boolean,
): ReturnType<typeof git.imageFiles.append> {
  const bytesMax = config.packages.fileBytesMax.container;
  const bounded = boundPieces(pieces, bytesMax, receivedBytes);
  const { nextUuid } = state;
  const partial = await git.imageFiles.append(uuid, state, nextUuid, bounded, isLikelyWhole);
  if ((partial.sent?.etags.length ?? 0) > PARTS_MAX) {
    throw imageFailure("SIZE_INVALID", "a blob that is uploaded in chunks has at most 40 GB");
  }
  return partial;
}

/** @throws Failure `malformed` */
export function requireSize(actual: number, announced: number | undefined): void {
  if (announced === undefined || announced === actual) return;
  throw imageFailure("SIZE_INVALID", `${announced} bytes were announced, and ${actual} came`);
}

/**
 * Notes what an upload has now.
 *
 * @returns Whether the upload was still as this request found it.
 */
export async function saveProgress(
  { db, now }: Ctx,
  { uuid, state, receivedBytes: before, expiresAt }: BlobUpload,
  receivedBytes: number,
  partial: Omit<UploadState, "nextUuid">,
): Promise<boolean> {
  const next: UploadState = { ...partial, nextUuid: crypto.randomUUID() };
  const [updated] = await db.batch([
    db
      .update(packageUploads)
      .set({ receivedBytes, state: next })
      .where(and(eq(packageUploads.uuid, uuid), eq(packageUploads.receivedBytes, before)))
      .returning({ uuid: packageUploads.uuid }),
    db.insert(packageLooseFiles).values({ uuid: next.nextUuid, expiresAt }),
    // The former rest is part of what was stored now.
    db
      .update(packageLooseFiles)
      .set({ expiresAt: now })
      .where(eq(packageLooseFiles.uuid, state.rest?.uuid ?? "")),
  ]);
  return updated.length > 0;
}
