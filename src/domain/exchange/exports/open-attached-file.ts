import type { Ctx } from "../../../context.ts";
import { log } from "../../../lib/log.ts";
import { readPieces } from "../../../lib/read-pieces.ts";

/** Size of the pieces in which it is read, in bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * Opens the bytes of a file of an issue, a comment or a release.
 *
 * @returns Undefined for a file whose bytes are gone: it must not keep everything else from
 *   leaving.
 */
export async function openAttachedFile(
  { git }: Ctx,
  uuid: string,
  sizeBytes: number,
): Promise<AsyncGenerator<Uint8Array> | undefined> {
  if (sizeBytes === 0) return noPieces();
  try {
    const stream = await git.attachmentFiles.open(uuid, { start: 0, end: sizeBytes });
    return readPieces(stream, PIECE_BYTES);
  } catch (error) {
    log("export:file-missing", { uuid, reason: String(error) });
    return undefined;
  }
}

async function* noPieces(): AsyncGenerator<Uint8Array> {
  // A file without bytes.
}
