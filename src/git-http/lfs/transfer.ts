import type { Context } from "hono";
import { z } from "zod";

import { findLfsObject } from "../../domain/code/lfs/find-objects.ts";
import { storeObject } from "../../domain/code/lfs/store-object.ts";
import { parseBase64Url } from "../../lib/base64.ts";
import { formatFilename } from "../../lib/header-value.ts";
import { invalid, notFound } from "../../lib/failure.ts";
import { CallerLeft } from "../../lib/step-budget.ts";
import { answerStoredFile } from "../../lib/stored-file.ts";
import type { GitHttpEnv } from "../env.ts";
import { isValidPointer } from "./batch.ts";
import { answerJson } from "./dialect.ts";
import { enterTransfer } from "./enter-lfs.ts";
import { readJson } from "./read-json.ts";

const INVALID = "Oid or size are invalid";
const NO_OBJECT = "the repository does not have this object";

/** Receives the bytes of a file. */
export async function upload(c: Context<GitHttpEnv>): Promise<Response> {
  const { oid = "", size = "" } = c.req.param() as { oid?: string; size?: string };
  const { ctx, repo } = await enterTransfer(c, { operation: "upload", oid });
  const sizeBytes = /^\d{1,16}$/.test(size) ? Number(size) : Number.NaN;
  if (!isValidPointer({ oid, size: sizeBytes })) throw invalid(INVALID);
  const { lfsFileMaxBytes } = ctx.config;
  if (sizeBytes > lfsFileMaxBytes) {
    throw invalid(`Size must be less than or equal to ${lfsFileMaxBytes}`);
  }
  const length = c.req.header("content-length");
  if (length !== undefined && Number(length) !== sizeBytes) {
    throw invalid(`the body has ${length} bytes, not ${sizeBytes}`);
  }
  const body = c.req.raw.body ?? new Blob([]).stream();
  const storing = storeObject(ctx, repo.row, { oid, sizeBytes }, body).catch(async (error) => {
    throw (await hasFailed(body)) ? new CallerLeft() : error;
  });
  // Storing, and the cleanup after a failure, completes even if the client disconnects.
  ctx.defer(storing.catch(() => undefined));
  // The rest of the body is read, since clients read the response only after they have sent
  // everything.
  if (!(await storing)) await body.pipeTo(new WritableStream());
  return answerJson({});
}

/**
 * Whether a stream failed by itself: one that was only read or cancelled is cancelled without an
 * error.
 */
const hasFailed = async (stream: ReadableStream): Promise<boolean> =>
  !stream.locked &&
  stream.cancel().then(
    () => false,
    () => true,
  );

/** Confirms that an uploaded file is stored, with the stated size. */
export async function verify(c: Context<GitHttpEnv>): Promise<Response> {
  const pointer = await readJson(c, z.object({ oid: z.string(), size: z.number() }));
  const { ctx, repo } = await enterTransfer(c, { operation: "verify", oid: pointer.oid });
  if (!isValidPointer(pointer)) throw invalid(INVALID);
  const object = await findLfsObject(ctx, repo.row, pointer.oid);
  if (object?.sizeBytes !== pointer.size) throw notFound(NO_OBJECT);
  return answerJson({});
}

/**
 * Sends a file, or a range of it.
 *
 * SECURITY: the content is untrusted and served from the service's own origin, so browsers must
 * save it and never render it.
 */
export async function download(c: Context<GitHttpEnv>): Promise<Response> {
  const { oid = "", filename = "" } = c.req.param() as { oid?: string; filename?: string };
  const { ctx, repo } = await enterTransfer(c, { operation: "download", oid });
  if (!isValidPointer({ oid, size: 0 })) throw invalid(INVALID);
  const object = await findLfsObject(ctx, repo.row, oid);
  if (!object) throw notFound(NO_OBJECT);

  const { sizeBytes, uploadId } = object;
  const name = decodeName(filename);
  const file = { networkName: repo.row.networkName, oid, uploadId };
  return answerStoredFile(c.req.raw, {
    sizeBytes,
    tag: oid,
    headers: {
      "Content-Type": "application/octet-stream",
      "Content-Disposition": name === "" ? "attachment" : `attachment; ${formatFilename(name)}`,
    },
    open: (range) => ctx.git.largeFiles.open(file, range),
  });
}

/** Decodes the file name in the path, which is base64url; "" if it is invalid or absent. */
const decodeName = (base64: string): string =>
  new TextDecoder().decode(parseBase64Url(base64) ?? new Uint8Array());
