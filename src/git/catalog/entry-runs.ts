import type { ByteSource } from "../store.ts";

/** Runs up to this size are read at once, in bytes. Longer ones are streamed. */
export const READ_BYTES = 1024 * 1024;
/** Gap of unneeded bytes that is always read to join two entries, in bytes, and the largest. */
const GAP_BYTES_MIN = 64 * 1024;
const GAP_BYTES_MAX = READ_BYTES;
/** Layout of the pieces of a stream. */
const PIECES = { gapBytes: 0, pieceBytes: 256 * 1024, count: 1 };

/** A range of a file, in bytes. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Entries that are read together, with the gaps between them. */
export interface Run<Entry extends Range> extends Range {
  readonly entries: readonly Entry[];
}

/**
 * Cuts entries into runs: a gap is read if the run in front of it is as long, so that at most half
 * of what is read is not needed, apart from short gaps.
 *
 * @param entries Sorted by start.
 */
export function cutRuns<Entry extends Range>(entries: readonly Entry[]): Run<Entry>[] {
  const runs: Run<Entry>[] = [];
  for (let at = 0; at < entries.length;) {
    const first = entries[at] as Entry;
    const { start } = first;
    let { end } = first;
    let stop = at + 1;
    for (; stop < entries.length; stop++) {
      const next = entries[stop] as Entry;
      const gapMax = Math.min(Math.max(end - start, GAP_BYTES_MIN), GAP_BYTES_MAX);
      if (next.start - end > gapMax) break;
      end = next.end;
    }
    runs.push({ start, end, entries: entries.slice(at, stop) });
    at = stop;
  }
  return runs;
}

/** Reads a run from its start to its end: a short one at once, a long one over one connection. */
export class RunReader {
  /** Memory held in bytes, apart from what a stream holds. */
  readonly heldBytes: number;
  private readonly pieces: AsyncGenerator<Uint8Array>;
  private begun: Promise<IteratorResult<Uint8Array>> | undefined;
  private piece: Uint8Array = new Uint8Array(0);
  private pieceStart: number;

  /** Begins to read a short run. A stream is opened when its first entry is read. */
  constructor(source: ByteSource, { start, end }: Range) {
    this.heldBytes = Math.min(end - start, READ_BYTES);
    this.pieceStart = start;
    this.pieces = readRange(source, start, end);
    if (end - start > READ_BYTES) return;
    this.begun = this.pieces.next();
    // It is awaited later, or never if the caller ends early, so it needs a handler now.
    this.begun.catch(() => {});
  }

  /** The bytes of an entry if they have been read, as a view; else undefined. */
  view(start: number, end: number): Uint8Array | undefined {
    const from = start - this.pieceStart;
    const to = end - this.pieceStart;
    return to <= this.piece.length ? this.piece.subarray(from, to) : undefined;
  }

  /** Reads the bytes of an entry. Those before its start are gone then. */
  async read(start: number, end: number): Promise<Uint8Array> {
    while (this.pieceStart + this.piece.length <= start) await this.next();
    const found = this.view(start, end);
    if (found) return found;
    const joined = new Uint8Array(end - start);
    for (let at = start; ; await this.next()) {
      const some = this.piece.subarray(at - this.pieceStart, end - this.pieceStart);
      joined.set(some, at - start);
      at += some.length;
      if (at === end) return joined;
    }
  }

  async close(): Promise<void> {
    await this.pieces.return(undefined);
  }

  private async next(): Promise<void> {
    const { value, done } = await (this.begun ?? this.pieces.next());
    this.begun = undefined;
    if (done) throw new Error("a run of entries is cut off");
    this.pieceStart += this.piece.length;
    this.piece = value;
  }
}

async function* readRange(
  source: ByteSource,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  if (end - start > READ_BYTES && source.stream) {
    yield* source.stream(start, end, PIECES);
    return;
  }
  for (let at = start; at < end; at += READ_BYTES) {
    yield await source.read(at, Math.min(end, at + READ_BYTES));
  }
}
