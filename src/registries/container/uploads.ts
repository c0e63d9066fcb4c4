import { callerArgument } from "../../auth/caller-sql.ts";
import { ACCESS } from "../../db/schema/index.ts";
import { appendUpload } from "../../domain/packages/images/append-upload.ts";
import { beginUpload } from "../../domain/packages/images/begin-upload.ts";
import { discardUpload } from "../../domain/packages/images/discard-upload.ts";
import { findUpload, type BlobUpload } from "../../domain/packages/images/find-upload.ts";
import { finishUpload, receiveImageBlob } from "../../domain/packages/images/finish-upload.ts";
import { imageFailure } from "../../domain/packages/images/image-failure.ts";
import type { Digest } from "../../domain/packages/images/image.ts";
import { mountBlob } from "../../domain/packages/images/mount-blob.ts";
import {
  type PackageContext,
  selectPackage,
  toPackageContext,
} from "../../domain/packages/package/find-package.ts";
import type { RegistryContext } from "../env.ts";
import { readUpload, readUploadPart } from "../read-upload.ts";
import { enterImage, type ImageRequest } from "./enter-image.ts";
import { isDigest, requireDigest, requireImageName } from "./names.ts";
import { imageError } from "./render-image-failure.ts";

/** Begins an upload, or receives the blob at once, or takes it from another image. */
export async function startUpload(c: RegistryContext, image: string): Promise<Response> {
  const request = await enterImage(c, image, "write");
  const { ctx } = request;
  const whole = c.req.query("digest");
  if (whole !== undefined) {
    const digest = requireDigest(whole);
    await receiveImageBlob(ctx, request, digest, readUpload(c));
    return answerBlob(c, request, digest);
  }
  const mounted = c.req.query("mount") ?? "";
  if (isDigest(mounted) && (await mount(c, request, mounted))) {
    return answerBlob(c, request, mounted);
  }
  return answerUpload(c, request, await beginUpload(ctx, request), 202);
}

/**
 * Takes a blob from the image that the request names, or from any image of the owner.
 *
 * @returns Whether it was there. A blob of another owner is not taken: each owner stores their
 *   contents themselves.
 */
async function mount(c: RegistryContext, request: ImageRequest, digest: Digest): Promise<boolean> {
  const { ctx, owner } = request;
  const from = c.req.query("from");
  if (from === undefined) return mountBlob(ctx, request, digest);
  const [ownerName = "", ...segments] = from.split("/");
  if (ownerName.toLowerCase() !== owner.account.lowerName) return false;
  const source = await findSource(request, requireImageName(segments.join("/")));
  return source !== undefined && mountBlob(ctx, request, digest, source);
}

/** SECURITY: an image of the same owner that the caller may read, as if the request was for it. */
async function findSource(
  { ctx, owner }: ImageRequest,
  name: string,
): Promise<PackageContext | undefined> {
  const { db, actor } = ctx;
  if (owner.access < ACCESS.read) return undefined;
  const [row] = await selectPackage(db, {
    caller: callerArgument(actor),
    ownerName: owner.account.lowerName,
    type: "container",
    nameKey: name,
  });
  return toPackageContext(actor, owner, row);
}

/** Appends a chunk: at the place that the request states, or at the end. */
export async function patchUpload(
  c: RegistryContext,
  image: string,
  uuid: string,
): Promise<Response> {
  const request = await enterImage(c, image, "write");
  const { ctx } = request;
  const upload = await findUpload(ctx, request, uuid);
  const range = readContentRange(c);
  if (range && range.start !== upload.receivedBytes) return answerGap(c, request, upload);
  const receivedBytes = await appendUpload(ctx, upload, {
    pieces: readUploadPart(c),
    sizeBytes: sizeOf(range),
    isLikelyWhole: !range,
  });
  if (receivedBytes === undefined) {
    return answerGap(c, request, await findUpload(ctx, request, uuid));
  }
  return answerUpload(c, request, { uuid, receivedBytes }, 202);
}

/** Ends an upload, with its last chunk or without. */
export async function putUpload(
  c: RegistryContext,
  image: string,
  uuid: string,
): Promise<Response> {
  const request = await enterImage(c, image, "write");
  const { ctx } = request;
  const digest = requireDigest(c.req.query("digest"));
  const upload = await findUpload(ctx, request, uuid);
  const range = readContentRange(c);
  if (range && range.start !== upload.receivedBytes) return answerGap(c, request, upload);
  const last = { digest, pieces: readUploadPart(c), sizeBytes: sizeOf(range) };
  await finishUpload(ctx, request, upload, last);
  return answerBlob(c, request, digest);
}

export async function getUpload(
  c: RegistryContext,
  image: string,
  uuid: string,
): Promise<Response> {
  const request = await enterImage(c, image, "write");
  return answerUpload(c, request, await findUpload(request.ctx, request, uuid), 204);
}

export async function cancelUpload(
  c: RegistryContext,
  image: string,
  uuid: string,
): Promise<Response> {
  const request = await enterImage(c, image, "write");
  await discardUpload(request.ctx, await findUpload(request.ctx, request, uuid));
  return c.body(null, 204);
}

/** Positions of the first and last byte of a chunk. */
interface ContentRange {
  readonly start: number;
  readonly end: number;
}

const sizeOf = (range: ContentRange | undefined): number | undefined =>
  range && range.end - range.start + 1;

/** @throws Failure `malformed` for a header that is no range. */
function readContentRange({ req }: RegistryContext): ContentRange | undefined {
  const header = req.header("content-range");
  if (header === undefined) return undefined;
  const match = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/(?:\d{1,15}|\*))?$/.exec(header);
  const range = { start: Number(match?.[1]), end: Number(match?.[2]) };
  if (match && range.start <= range.end) return range;
  throw imageFailure("BLOB_UPLOAD_INVALID", "the header Content-Range is of the form 0-99");
}

/** The headers by which a client goes on with an upload. */
const uploadHeaders = (
  { path }: ImageRequest,
  { uuid, receivedBytes }: Pick<BlobUpload, "uuid" | "receivedBytes">,
): Record<string, string> => ({
  Location: `${path}/blobs/uploads/${uuid}`,
  Range: `0-${Math.max(0, receivedBytes - 1)}`,
  "Docker-Upload-UUID": uuid,
});

const answerUpload = (
  c: RegistryContext,
  request: ImageRequest,
  upload: Pick<BlobUpload, "uuid" | "receivedBytes">,
  status: 202 | 204,
): Response => c.body(null, status, uploadHeaders(request, upload));

/** Refuses a chunk that does not begin where the upload ends. */
const answerGap = (c: RegistryContext, request: ImageRequest, upload: BlobUpload): Response =>
  c.json(
    imageError("BLOB_UPLOAD_INVALID", `the upload has ${upload.receivedBytes} bytes`),
    416,
    uploadHeaders(request, upload),
  );

const answerBlob = (c: RegistryContext, { path }: ImageRequest, digest: Digest): Response =>
  c.body(null, 201, {
    Location: `${path}/blobs/${digest}`,
    "Docker-Content-Digest": digest,
  });
