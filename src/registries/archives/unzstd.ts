import { Decompress } from "fzstd";

import { Failure, malformed, tooLarge } from "../../lib/failure.ts";
import { pause } from "../../lib/time-slice.ts";

const MAGIC = 0xfd2fb528;
/**
 * The window that every decoder takes: larger ones are for files that are read again with the same
 * setting.
 */
const WINDOW_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes that are decompressed at once, and steps for each of them and of the output. */
const PIECE_BYTES = 4096;
const BYTE_STEPS = 1;

/**
 * Decompresses a file of one Zstandard frame, as `zstd` writes it. Its checksum is not computed.
 *
 * @throws Failure `malformed` for anything else; `too_large` beyond `bytesMax`.
 * @see RFC 8878.
 */
export async function unzstd(bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  requireFrame(bytes, bytesMax);
  const pieces: Uint8Array[] = [];
  let length = 0;
  const decompress = new Decompress((piece) => {
    length += piece.length;
    if (length > bytesMax) throw tooLarge(`the archive unpacks to more than ${bytesMax} bytes`);
    pieces.push(piece);
  });
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const before = length;
      decompress.push(bytes.subarray(at, at + PIECE_BYTES), at + PIECE_BYTES >= bytes.length);
      await pause(BYTE_STEPS * (PIECE_BYTES + length - before));
    }
  } catch (error) {
    // The library reports broken data as errors of various kinds.
    throw error instanceof Failure ? error : broken();
  }
  const output = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    output.set(piece, at);
    at += piece.length;
  }
  return output;
}

/**
 * Checks that the bytes are one frame with a small window.
 *
 * SECURITY: the library allocates the window, or the size of the content, that a frame claims.
 */
function requireFrame(bytes: Uint8Array, bytesMax: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (view.getUint32(0, true) !== MAGIC) throw broken();
    const descriptor = view.getUint8(4);
    const isSingle = (descriptor & 0x20) !== 0;
    const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
    const sizeKind = descriptor >> 6;
    const sizeBytes = sizeKind === 0 ? (isSingle ? 1 : 0) : 2 ** sizeKind;
    const sizeAt = 5 + (isSingle ? 0 : 1) + dictionaryBytes;
    if (dictionaryBytes > 0) throw broken();
    if (!isSingle && windowOf(view.getUint8(5)) > WINDOW_BYTES_MAX) throw tooWide();
    if (sizeBytes > 0 && contentSize(view, sizeAt, sizeBytes) > bytesMax) {
      throw tooLarge(`the archive unpacks to more than ${bytesMax} bytes`);
    }
    const end = skipBlocks(view, sizeAt + sizeBytes) + ((descriptor & 4) === 0 ? 0 : 4);
    if (end !== bytes.length) throw broken();
  } catch (error) {
    // A view reports a read behind its end by this error.
    if (error instanceof RangeError) throw broken();
    throw error;
  }
}

const windowOf = (descriptor: number): number => {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
};

function contentSize(view: DataView, at: number, sizeBytes: number): number {
  if (sizeBytes === 1) return view.getUint8(at);
  if (sizeBytes === 2) return view.getUint16(at, true) + 256;
  if (sizeBytes === 4) return view.getUint32(at, true);
  return Number(view.getBigUint64(at, true));
}

/** @returns The offset behind the last block. */
function skipBlocks(view: DataView, start: number): number {
  for (let at = start; ;) {
    const header = view.getUint16(at, true) + view.getUint8(at + 2) * 65536;
    const kind = (header >> 1) & 3;
    if (kind === 3) throw broken();
    // A block of one repeated byte holds that byte alone.
    at += 3 + (kind === 1 ? 1 : header >> 3);
    if (header & 1) return at;
  }
}

const tooWide = () => malformed("the archive is compressed with too large a window");
const broken = () => malformed("the file is not compressed by Zstandard, or broken");
