import type { Ctx } from "../../context.ts";
import { Failure } from "../../lib/failure.ts";
import {
  boundPieces,
  dropBlobs,
  receiveBlob,
  type ReceivedBlob,
} from "../packages/receive-blob.ts";
import { receivePieces, requireSize } from "./append-upload.ts";
import { CountedPieces } from "./counted-pieces.ts";
import { discardUpload, endUpload } from "./discard-upload.ts";
import type { BlobUpload } from "./find-upload.ts";
import { imageFailure } from "./image-failure.ts";
import { type Digest, digestLike, holdContent, type ImageTarget } from "./image.ts";

/**
 * Ends an upload with its last bytes, and gives the image the blob.
 *
 * @param pieces    The last bytes, or all of them; may be empty.
 * @param sizeBytes The announced size of `pieces`.
 * @throws Failure `malformed` if the bytes do not have the digest: the upload is discarded; or if another request has
 * changed the upload meanwhile; and as `publishVersion` does.
 */
export async function finishUpload(
  ctx: Ctx,
  target: ImageTarget,
  upload: BlobUpload,
  last: { digest: Digest; pieces: AsyncIterable<Uint8Array>; sizeBytes?: number | undefined },
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
  { pieces, sizeBytes }: { pieces: AsyncIterable<Uint8Array>; sizeBytes?: number | undefined },
): Promise<ReceivedBlob | undefined> {
  const { git, config } = ctx;
  const { uuid, state, receivedBytes } = upload;
  const [first, all] = await peek(pieces);
  const counted = new CountedPieces(all, "throw");
  if (receivedBytes === 0) {
    const bounded = boundPieces(counted, config.packages.fileBytesMax.container);
    const stored = await git.packageFiles.receive(uuid, bounded);
    requireSize(stored.sizeBytes, sizeBytes);
    return { uuid, ...stored };
  }
  const partial = first ? await receivePieces(ctx, upload, counted) : state;
  requireSize(counted.sizeBytes, sizeBytes);
  return git.packageFiles.complete(uuid, partial, receivedBytes + counted.sizeBytes);
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
  const blob = await receiveBlob(ctx, "container", pieces);
  if (digestLike(blob, digest) !== digest) {
    dropBlobs(ctx, [blob.uuid]);
    throw digestInvalid(digest, blob);
  }
  await holdContent(ctx, target, digest, blob);
}

const digestInvalid = (digest: Digest, blob: ReceivedBlob) =>
  imageFailure("DIGEST_INVALID", `the content is ${digestLike(blob, digest)}`, { digest });
