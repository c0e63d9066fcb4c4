import { splitPiece } from "../../lib/archive-source.ts";
import { gunzip } from "./gunzip.ts";
import { readTar, type TarEntry } from "./tar.ts";

/**
 * Reads the entries of a compressed tar archive while it arrives. @throws Failure as `readTar` and
 * `gunzip`.
 */
export const streamTarGz = (
  archive: AsyncIterable<Uint8Array>,
  unpackedBytesMax: number,
): AsyncGenerator<TarEntry> => readTar(gunzip(splitPieces(archive), unpackedBytesMax));

async function* splitPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield* splitPiece(piece);
}
