import { malformed, tooLarge } from "../../lib/failure.ts";
import { Lzma2Decoder } from "./lzma2.ts";

const MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];
const STREAM_HEADER_BYTES = 12;
const FOOTER_BYTES = 12;
const LZMA2 = 0x21;
/** The first allocation for an output, in bytes. */
const FIRST_BYTES = 64 * 1024;

/**
 * Decompresses a file of one xz stream, as `xz` writes it. Its checks are not computed. Other
 * requests run meanwhile.
 *
 * @throws Failure `malformed` for anything else, also for filters other than LZMA2; `too_large`
 *   beyond `bytesMax`.
 * @see https://tukaani.org/xz/xz-file-format.txt
 */
export async function unxz(bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  try {
    return await decodeStream(bytes, bytesMax);
  } catch (error) {
    // Typed arrays and views report reads behind their end by this error.
    if (error instanceof RangeError) throw broken();
    throw error;
  }
}

async function decodeStream(bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  if (MAGIC.some((byte, at) => bytes[at] !== byte)) throw broken();
  const checkBytes = sizeOfCheck(byteAt(bytes, 7) & 0x0f);
  const output = new GrowingOutput(bytesMax);
  let offset = STREAM_HEADER_BYTES;
  // A zero in the place of a block's size begins the index.
  while (byteAt(bytes, offset) !== 0) {
    offset = readBlockHeader(bytes, offset);
    offset = await new Lzma2Decoder(bytes, output).decode(offset);
    offset += -offset & 3;
    offset += checkBytes;
  }
  requireFooter(bytes, offset);
  return output.bytes();
}

/** Checks that the index and the footer, which holds the index's size, end the file. */
function requireFooter(bytes: Uint8Array, indexStart: number): void {
  const start = bytes.length - FOOTER_BYTES;
  if (start < indexStart || bytes.at(-2) !== 0x59 || bytes.at(-1) !== 0x5a) throw broken();
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, FOOTER_BYTES);
  if (indexStart + (view.getUint32(4, true) + 1) * 4 !== start) throw broken();
}

/** @returns The offset behind the header, where the block's data begins. */
function readBlockHeader(bytes: Uint8Array, start: number): number {
  const end = start + (byteAt(bytes, start) + 1) * 4;
  const flags = byteAt(bytes, start + 1);
  let offset = start + 2;
  const readNumber = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = byteAt(bytes, offset++);
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
      if (shift > 2 ** 49) throw broken();
    }
  };
  if (flags & 0x40) readNumber();
  if (flags & 0x80) readNumber();
  const isLzma2Alone = (flags & 0x03) === 0 && readNumber() === LZMA2;
  if (!isLzma2Alone) throw malformed("the archive is compressed by a filter other than LZMA2");
  if (end > bytes.length) throw broken();
  return end;
}

/** The size of the check behind each block, by its kind. */
function sizeOfCheck(kind: number): number {
  return kind === 0 ? 0 : 4 << Math.floor((kind - 1) / 3);
}

/** Bytes that are written once, up to a limit, and can be read back while they grow. */
class GrowingOutput {
  private buffer: Uint8Array;
  private readonly bytesMax: number;
  length = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.buffer = new Uint8Array(Math.min(bytesMax, FIRST_BYTES));
  }

  /** @throws Failure `too_large` beyond the limit. */
  push(byte: number): void {
    if (this.length === this.buffer.length) this.grow(this.length + 1);
    this.buffer[this.length++] = byte;
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.buffer.length) this.grow(this.length + bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** The byte that was written `distance` before the next one; 1 is the last one. */
  back(distance: number): number {
    return this.buffer[this.length - distance] ?? 0;
  }

  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  private grow(needed: number): void {
    if (needed > this.bytesMax) {
      throw tooLarge(`the archive unpacks to more than ${this.bytesMax} bytes`);
    }
    const larger = new Uint8Array(Math.min(this.bytesMax, Math.max(needed, this.length * 2)));
    larger.set(this.bytes());
    this.buffer = larger;
  }
}

const broken = () => malformed("the file is not compressed by xz, or broken");

function byteAt(bytes: Uint8Array, offset: number): number {
  const byte = bytes[offset];
  if (byte === undefined) throw broken();
  return byte;
}
