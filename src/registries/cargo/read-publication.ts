import { malformed, tooLarge } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";

/** Maximum bytes of the JSON before the crate: it holds the readme. */
const JSON_BYTES_MAX = 2 * 1024 * 1024;
const LENGTH_BYTES = 4;

/** The parts of a publish request. */
export interface CratePublication {
  readonly json: unknown;
  /** The crate, to be read to its end: only then it is known to be complete. */
  readonly pieces: AsyncGenerator<Uint8Array>;
}

/**
 * Splits the body of a publish request: the length of the JSON, the JSON, the length of the crate,
 * and the crate. Lengths are of 32 bits, little-endian.
 *
 * @throws Failure `malformed` for a body that is shorter or longer than its lengths say, also while
 * the crate is read; `too_large` for JSON of more than 2 MiB.
 * @see "Registry Web API" of the Cargo Book, "Publish".
 */
export async function readCratePublication(
  body: AsyncGenerator<Uint8Array>,
): Promise<CratePublication> {
  const reader = new FrameReader(body);
  const json = await parseMetadata(await reader.read(await reader.readLength(JSON_BYTES_MAX)));
  const crateBytes = await reader.readLength(Number.POSITIVE_INFINITY);
  return { json, pieces: reader.readLast(crateBytes) };
}

async function parseMetadata(bytes: Uint8Array): Promise<unknown> {
  try {
    return await parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw malformed("the metadata of the crate are not JSON");
  }
}

class FrameReader {
  private readonly body: AsyncGenerator<Uint8Array>;
  private held: Uint8Array = new Uint8Array();

  constructor(body: AsyncGenerator<Uint8Array>) {
    this.body = body;
  }

  async readLength(bytesMax: number): Promise<number> {
    const bytes = await this.read(LENGTH_BYTES);
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    if (length > bytesMax) throw tooLarge(`the metadata have more than ${bytesMax} bytes`);
    return length;
  }

  /** Reads exactly so many bytes. */
  async read(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let at = 0;
    while (at < length) {
      const piece = await this.take(length - at);
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  /** Streams exactly so many bytes, behind which the body ends. */
  async *readLast(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      const piece = await this.take(left);
      left -= piece.length;
      yield piece;
    }
    if (this.held.length > 0 || !(await this.body.next()).done) {
      throw malformed("the body is longer than its lengths say");
    }
  }

  /** At least one byte, and at most so many. */
  private async take(bytesMax: number): Promise<Uint8Array> {
    while (this.held.length === 0) {
      const { value, done } = await this.body.next();
      if (done) throw malformed("the body is shorter than its lengths say");
      this.held = value;
    }
    const piece = this.held.subarray(0, bytesMax);
    this.held = this.held.subarray(piece.length);
    return piece;
  }
}
