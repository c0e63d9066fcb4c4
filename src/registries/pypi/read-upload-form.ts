import { blake2b } from "@noble/hashes/blake2.js";

import type { Ctx } from "../../context.ts";
import { readFormParts } from "../../domain/issues/attachments/form-file.ts";
import {
  dropBlobs,
  receiveBlob,
  type ReceivedBlob,
} from "../../domain/packages/package/receive-blob.ts";
import { malformed, tooLarge } from "../../lib/failure.ts";
import { formatHex } from "../../lib/hex.ts";
import { sourceOfBlob } from "../archives/blob-source.ts";
import { readSource } from "../../lib/archive-source.ts";
import { pause } from "../../lib/time-slice.ts";
import type { RegistryContext } from "../env.ts";

/** An upload: the fields of the form, and the file, which is stored. */
export interface UploadedDistribution {
  readonly fields: ReadonlyMap<string, string>;
  readonly filename: string;
  readonly blob: ReceivedBlob;
}

/** Maximum bytes of the fields: they repeat the metadata of the archive. */
const FIELDS_BYTES_MAX = 2 * 1024 * 1024;
const FIELD_BYTES_MAX = 512 * 1024;
const FIELDS_MAX = 2000;
/** Steps to hash a byte. */
const HASHED_BYTE_STEPS = 1;

/**
 * Reads the form that twine sends, and stores its file. Signatures and attestations are skipped.
 *
 * @throws Failure `malformed` for a form without a file or with several, and for a file whose
 * digests are not those that were sent; `too_large`. Nothing of the file stays then.
 * @see "Upload API 1.0" of the Python packaging specifications.
 */
export async function readUploadForm(ctx: Ctx, c: RegistryContext): Promise<UploadedDistribution> {
  const { body, headers } = c.req.raw;
  if (!body) throw malformed("http: no such file");
  const fields = new Map<string, string>();
  let file: { filename: string; blob: ReceivedBlob } | undefined;
  try {
    const type = headers.get("content-type") ?? "";
    for await (const { name, filename, pieces } of readFormParts(type, body, FIELDS_BYTES_MAX)) {
      if (name === "content" && filename !== undefined) {
        if (file) throw malformed("the form has more than one file");
        file = { filename, blob: await receiveBlob(ctx, "pypi", pieces) };
      } else if (filename === undefined && !fields.has(name)) {
        if (fields.size >= FIELDS_MAX) throw malformed("the form has too many fields");
        fields.set(name, await readField(pieces));
      }
    }
    if (!file) throw malformed("http: no such file");
    await requireDigests(ctx, fields, file.blob);
    return { fields, ...file };
  } catch (error) {
    if (file) dropBlobs(ctx, [file.blob.uuid]);
    throw error;
  }
}

async function readField(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > FIELD_BYTES_MAX) throw tooLarge("the form has a field that is too large");
  }
  return text + decoder.decode();
}

/** Requires that the digests which were sent are those of the file. At least one is sent. */
async function requireDigests(
  ctx: Ctx,
  fields: ReadonlyMap<string, string>,
  blob: ReceivedBlob,
): Promise<void> {
  const sent = (name: string): string => fields.get(`${name}_digest`)?.trim() ?? "";
  const [md5, sha256, blake2] = [sent("md5"), sent("sha256"), sent("blake2_256")];
  if (md5 === "" && sha256 === "" && blake2 === "") {
    throw malformed("the form has no digest of the file");
  }
  const isWrong =
    (md5 !== "" && md5.toLowerCase() !== blob.md5) ||
    (sha256 !== "" && sha256.toLowerCase() !== blob.sha256) ||
    (blake2 !== "" && blake2.toLowerCase() !== (await hashBlake2(ctx, blob)));
  if (isWrong) throw malformed("hash mismatch");
}

/** BLAKE2b of 256 bits, which the platform does not have: the stored file is read once more. */
async function hashBlake2(ctx: Ctx, blob: ReceivedBlob): Promise<string> {
  const hash = blake2b.create({ dkLen: 32 });
  for await (const piece of readSource(sourceOfBlob(ctx, blob))) {
    await pause(HASHED_BYTE_STEPS * piece.length);
    hash.update(piece);
  }
  return formatHex(hash.digest());
}
