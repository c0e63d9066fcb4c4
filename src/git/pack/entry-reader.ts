import { type Budget, runInTurns, runNow, type Steps } from "../budget.ts";
import { type Codec, HOST_INFLATE_BYTES_MAX, HOST_INFLATE_BYTES_MIN } from "../codec.ts";
import { corrupt, type GitError } from "../error.ts";
import type { ByteSource } from "../store.ts";
import { Inflater } from "../zlib/inflate.ts";
import { type EntryHeader, readEntryHeader } from "./entry-header.ts";
import type { PackKernel } from "./pack-kernel.ts";

/** Size of the read window, in bytes. A longer entry enlarges it. */
const WINDOW_BYTES = 2 * 1024 * 1024;

/**
 * Reads entries of a pack in ascending order through one window, so that a pass over a pack
 * consists of a few large reads.
 */
export class EntryReader {
  private readonly source: ByteSource;
  private readonly inflater = new Inflater();
  private readonly kernel: PackKernel | undefined;
  /** Offset after the last entry, where the trailer starts. */
  private readonly bodyEnd: number;
  private window: Uint8Array = new Uint8Array(0);
  private windowStart = 0;

  /** @param kernel Inflates the usual entries, if given; the result is the same. */
  constructor(source: ByteSource, bodyEnd: number, kernel?: PackKernel) {
    this.source = source;
    this.kernel = kernel;
    this.bodyEnd = bodyEnd;
  }

  /** Size of the window in bytes. */
  get heldBytes(): number {
    return this.window.length;
  }

  /** True if the window contains the range. */
  has(start: number, end: number): boolean {
    return start >= this.windowStart && end <= this.windowStart + this.window.length;
  }

  /** Moves the window to the entry at `start`. */
  async seek(start: number, end: number): Promise<void> {
    const windowEnd = Math.max(end, Math.min(this.bodyEnd, start + WINDOW_BYTES));
    this.window = new Uint8Array(0);
    this.window = await this.source.read(start, windowEnd);
    this.windowStart = start;
  }

  /** Returns the stored bytes of an entry in the window, as a view. */
  stored(start: number, end: number): Uint8Array {
    return this.window.subarray(start - this.windowStart, end - this.windowStart);
  }

  header(start: number): EntryHeader {
    const header = readEntryHeader(this.window, start - this.windowStart);
    if (!header) throw corrupt("pack: entry cut off");
    return header;
  }

  /** Inflates the entry at `start` into `output`, whose length is the inflated size. */
  *inflate(start: number, end: number, header: EntryHeader, output: Uint8Array): Steps {
    const stop = end - this.windowStart;
    const inflated = this.kernel?.inflate(this.window, header.next, stop, output.length);
    if (inflated) {
      output.set(inflated);
      return;
    }
    yield* inflateInParts(this.inflater, this.window, header.next, stop, output);
    if (this.inflater.inputOffset !== stop) throw corrupt(`pack: entry at ${start} does not end`);
  }

  /** Inflates the entry at `start` into a new array. */
  *inflateOwn(start: number, end: number, header: EntryHeader, codec: Codec): Steps<Uint8Array> {
    const { sizeBytes } = header;
    const stop = end - this.windowStart;
    const inflated = this.kernel?.inflate(this.window, header.next, stop, sizeBytes);
    if (inflated) return inflated.slice();
    if (sizeBytes < HOST_INFLATE_BYTES_MIN || sizeBytes > HOST_INFLATE_BYTES_MAX) {
      const content = new Uint8Array(sizeBytes);
      yield* this.inflate(start, end, header, content);
      return content;
    }
    const bytes = this.window.subarray(header.next, stop);
    const content = codec.inflate(bytes, sizeBytes);
    if (content.length !== sizeBytes) throw corrupt("pack: entry is not as long as it says");
    return content;
  }
}

/** Output after which inflating pauses, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** Steps to inflate a byte. */
export const INFLATED_BYTE_STEPS = 1;

/**
 * `inflateWhole` in pieces, between which other work may run. Counts what it inflates.
 *
 * @param inflater For an output of one piece; a longer one has its own, since others may be
 *   inflated meanwhile.
 */
export async function inflateInPieces(
  inflater: Inflater,
  bytes: Uint8Array,
  start: number,
  output: Uint8Array,
  budget: Budget,
): Promise<void> {
  if (output.length <= PIECE_BYTES) {
    budget.consume(INFLATED_BYTE_STEPS * output.length);
    inflateWhole(inflater, bytes, start, bytes.length, output);
    return;
  }
  const own = new Inflater();
  await runInTurns(inflateInParts(own, bytes, start, bytes.length, output), budget);
}

const badLength = (): GitError => corrupt("pack: entry is not as long as it says");

/**
 * Inflates a stream that is entirely in memory.
 *
 * @throws GitError `corrupt` unless it fills `output` exactly.
 */
function inflateWhole(
  inflater: Inflater,
  bytes: Uint8Array,
  start: number,
  end: number,
  output: Uint8Array,
): void {
  runNow(inflateInParts(inflater, bytes, start, end, output));
}

/** Bytes of output, and of input, that are inflated before a stream in parts yields. */
const PART_BYTES = 64 * 1024;
const INPUT_PART_BYTES = 16 * 1024;

/** `inflateWhole` in parts. */
function* inflateInParts(
  inflater: Inflater,
  bytes: Uint8Array,
  start: number,
  end: number,
  output: Uint8Array,
): Steps {
  inflater.reset();
  let [at, to] = [start, 0];
  for (;;) {
    const inputEnd = Math.min(end, at + INPUT_PART_BYTES);
    const outputEnd = Math.min(output.length, to + PART_BYTES);
    const status = inflater.run(bytes, at, inputEnd, output, to, outputEnd);
    yield inflater.inputOffset - at + inflater.outputOffset - to;
    at = inflater.inputOffset;
    to = inflater.outputOffset;
    if (status === "done") break;
    const hasMore = status === "need-input" ? inputEnd < end : outputEnd < output.length;
    if (!hasMore) throw badLength();
  }
  if (to !== output.length) throw badLength();
}
