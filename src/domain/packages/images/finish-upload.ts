import type { Ctx } from "../../../context.ts";
import { Failure } from "../../../lib/failure.ts";
import { CallerLeft } from "../../../lib/step-budget.ts";
import { boundPieces, dropBlobs, receiveBlob, type ReceivedBlob } from "../package/receive-blob.ts";
import type { PartialFile, StoredBytes } from "../../../storage/hashed-files.ts";
import { receivePieces, requireSize, saveProgress } from "./append-upload.ts";
import { CountedPieces } from "./counted-pieces.ts";
import { discardUpload, endUpload } from "./discard-upload.ts";
import type { BlobUpload } from "./find-upload.ts";
import { imageFailure } from "./image-failure.ts";
import {
  type Digest,
  digestLike,
  blobFilesOf,
  holdContent,
  type ImageTarget,
  toReceived,
} from "./image.ts";

/**
 * Ends an upload with its last bytes, and gives the image the blob. If the caller leaves, the
 * upload stays, with what has arrived: as after `appendUpload`.
 *
 * @param pieces    The last bytes, or all of them; may be empty.
 * @param sizeBytes The announced size of `pieces`.
 * @throws Failure `malformed` if the bytes do not have the digest: the upload is discarded; or if
 * another request has changed the upload meanwhile; and as `publishVersion` does.
 */
export function finishUpload(
  ctx: Ctx,
  target: ImageTarget,
  upload: BlobUpload,
  last: LastBytes & { readonly digest: Digest },
): Promise<void> {
  const work = finish(ctx, target, upload, last);
  // The platform ends the work of a request whose caller left, unless it is deferred.
  ctx.defer(work.catch(() => {}));
  return work;
}

/** The last bytes of an upload, and their announced size. */
interface LastBytes {
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly sizeBytes?: number | undefined;
}

async function finish(
  ctx: Ctx,
  target: ImageTarget,
  upload: BlobUpload,
  last: LastBytes & { readonly digest: Digest },
): Promise<void> {
  const blob = await complete(ctx, upload, last);
  if (!blob || digestLike(blob, last.digest) !== last.digest) {
    await discardUpload(ctx, upload);
    throw blob
      ? digestInvalid(last.digest, blob)
      : imageFailure("BLOB_UPLOAD_INVALID", "two requests have changed the upload at once");
  }
  try {
    await holdContent(ctx, target, last.digest, blob, { also: () => endUpload(ctx, upload) });
  } catch (error) {
    // The bytes of a blob that is refused are dropped, so nobody can go on with the upload.
    if (error instanceof Failure) await discardUpload(ctx, upload);
    throw error;
  }
}

async function complete(
  ctx: Ctx,
  upload: BlobUpload,
  { pieces, sizeBytes, digest }: LastBytes & { readonly digest: Digest },
): Promise<ReceivedBlob | undefined> {
  const files = blobFilesOf(ctx, digest);
  const { uuid } = upload;
  const [first, all] = await peek(pieces);
  const counted = new CountedPieces(all);
  const received = await receiveLast(ctx, upload, counted, digest, first === undefined);
  const receivedBytes = upload.receivedBytes + counted.sizeBytes;
  if (counted.hasLeft) {
    if ("partial" in received) await saveProgress(ctx, upload, receivedBytes, received.partial);
    throw new CallerLeft();
  }
  requireSize(counted.sizeBytes, sizeBytes);
  if ("stored" in received) return toReceived(uuid, received.stored);
  const stored = await files.complete(uuid, received.partial, receivedBytes);
  return stored && toReceived(stored.uuid, stored);
}

/** Stores the last bytes of an upload: a file that is received whole is finished so. */
async function receiveLast(
  ctx: Ctx,
  upload: BlobUpload,
  counted: CountedPieces,
  digest: Digest,
  isEmpty: boolean,
): Promise<{ stored: StoredBytes<"sha256"> } | { partial: PartialFile }> {
  const { config } = ctx;
  const { uuid, state, receivedBytes } = upload;
  if (receivedBytes === 0) {
    const bounded = boundPieces(counted, config.packages.fileBytesMax.container);
    const isWhole = () => !counted.hasLeft;
    return blobFilesOf(ctx, digest).receiveOrSuspend(uuid, state.nextUuid, bounded, isWhole);
  }
  return { partial: isEmpty ? state : await receivePieces(ctx, upload, counted) };
}

/** The first piece, and all pieces with it. */
async function peek(
  pieces: AsyncIterable<Uint8Array>,
): Promise<[Uint8Array | undefined, AsyncIterable<Uint8Array>]> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  const all = async function* (): AsyncGenerator<Uint8Array> {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  return [first.done ? undefined : first.value, all()];
}

/** Receives a blob in one request, and gives it to the image. @throws Failure as `finishUpload`. */
export async function receiveImageBlob(
  ctx: Ctx,
  target: ImageTarget,
  digest: Digest,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const blob = await receiveBlob(ctx, "container", pieces, async (uuid, bounded) =>
    toReceived(uuid, await blobFilesOf(ctx, digest).receive(uuid, bounded)),
  );
  if (digestLike(blob, digest) !== digest) {
    dropBlobs(ctx, [blob.uuid]);
    throw digestInvalid(digest, blob);
  }
  await holdContent(ctx, target, digest, blob);
}

const digestInvalid = (digest: Digest, blob: ReceivedBlob) =>
  imageFailure("DIGEST_INVALID", `the content is ${digestLike(blob, digest)}`, { digest });
