import { type Budget, giveWay, UNLIMITED } from "../budget.ts";
import { corrupt } from "../error.ts";
import type { ByteSource } from "../store.ts";
import { Inflater, WINDOW_BYTES } from "../zlib/inflate.ts";
import { readEntryHeader } from "./entry-header.ts";

/** Size of the pieces in which an entry is read and inflated, in bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * Bytes that are inflated before others may have a turn: a stream may consist of tables of codes.
 */
const INPUT_PART_BYTES = 16 * 1024;

/** Memory held while an entry is read, in bytes: input, its unread rest, and output. */
export const ENTRY_STREAM_BYTES = 4 * PIECE_BYTES + WINDOW_BYTES;

/**
 * Inflates the entry from `start` to `end` of a pack, an object or a delta, in pieces. A piece is
 * valid until the next one is requested.
 *
 * @throws GitError `corrupt` for an entry that does not end at `end`.
 */
export async function* streamEntry(
  source: ByteSource,
  start: number,
  end: number,
  budget: Budget = UNLIMITED,
): AsyncGenerator<Uint8Array> {
  const inflater = new Inflater();
  const output = new Uint8Array(WINDOW_BYTES + PIECE_BYTES);
  let to = 0;
  let kept = 0;
  let rest: Uint8Array = new Uint8Array(0);
  for (let at = start; at < end;) {
    const stop = Math.min(end, at + PIECE_BYTES);
    const read = await source.read(at, stop);
    const input = new Uint8Array(rest.length + read.length);
    input.set(rest);
    input.set(read, rest.length);
    let from = 0;
    if (at === start) {
      const header = readEntryHeader(input, 0);
      if (!header) throw corrupt("pack: entry cut off");
      from = header.next;
    }
    at = stop;
    for (;;) {
      const inputEnd = Math.min(input.length, from + INPUT_PART_BYTES);
      const status = inflater.run(input, from, inputEnd, output, to, output.length);
      const steps = inflater.inputOffset - from + inflater.outputOffset - to;
      const turn = giveWay(budget, steps);
      if (turn) await turn;
      from = inflater.inputOffset;
      if (inflater.outputOffset > kept) yield output.subarray(kept, inflater.outputOffset);
      to = Math.min(inflater.outputOffset, WINDOW_BYTES);
      output.copyWithin(0, inflater.outputOffset - to, inflater.outputOffset);
      kept = to;
      if (status === "done") return;
      if (status === "need-input" && inputEnd === input.length) break;
    }
    rest = input.slice(from);
  }
  throw corrupt("pack: entry cut off");
}
