import { type ByteText, byteTextBytes, readByteText } from "../byte-text.ts";
import { corrupt, overLimit } from "../error.ts";
import type { PatchHunk } from "./file-patch.ts";

/** Maximum lines of a file. */
const LINES_MAX = 1_000_000;
/** Maximum lines compared for one file in search of the positions of its hunks. */
const STEPS_MAX = 50_000_000;

/**
 * Applies hunks to a file, each at its stated line or at the nearest position where all of its
 * lines match.
 *
 * @param name The name of the file in error messages.
 * @throws GitError `corrupt` for a hunk that matches nowhere, `limit` for a file with too many
 * lines or a search that takes too long.
 */
export function applyHunks(
  content: Uint8Array,
  hunks: readonly PatchHunk[],
  name: ByteText,
): Uint8Array {
  const image = new Image(splitLines(readByteText(content)));
  for (const hunk of hunks) {
    if (!image.apply(hunk)) throw corrupt(`patch failed: ${name}:${hunk.oldStart}`);
  }
  return byteTextBytes(image.text());
}

/** A file while it is patched. */
class Image {
  private lines: string[];
  /** Whether each line was written by a hunk; later hunks must not match such lines. */
  private isDone: boolean[];
  private stepsLeft = STEPS_MAX;

  constructor(lines: string[]) {
    this.lines = lines;
    this.isDone = lines.map(() => false);
  }

  text(): ByteText {
    return this.lines.join("") as ByteText;
  }

  /** Returns false if the hunk matches nowhere. */
  apply(hunk: PatchHunk): boolean {
    const at = this.findPosition(hunk);
    if (at < 0) return false;
    const { before, after } = hunk;
    // Replacing lines copies the arrays, so it consumes budget too.
    this.consume(this.lines.length >> 4);
    this.lines = replaced(this.lines, at, before.length, after);
    const done = after.map(() => true);
    this.isDone = replaced(this.isDone, at, before.length, done);
    return true;
  }

  /**
   * The line at which a hunk matches, found in git's search order; negative if it matches nowhere.
   */
  private findPosition({ oldStart, newStart, before, trailing }: PatchHunk): number {
    const { length } = this.lines;
    const last = length - before.length;
    // A hunk without leading or trailing context must match at the beginning or the end.
    const isFirst = oldStart <= 1;
    const isLast = trailing === 0;
    if (last < 0) return -1;
    if (isFirst) return (!isLast || last === 0) && this.fits(before, 0, !isLast) ? 0 : -1;
    if (isLast) return this.fits(before, last) ? last : -1;
    const expected = Math.min(Math.max(newStart - 1, 0), length);
    for (let distance = 0; expected + distance <= length || expected - distance >= 0; distance++) {
      const [forward, back] = [expected + distance, expected - distance];
      if (forward <= last && this.fits(before, forward, true)) return forward;
      if (distance > 0 && back >= 0 && back <= last && this.fits(before, back, true)) return back;
    }
    return -1;
  }

  private fits(before: readonly string[], at: number, mayEnd = false): boolean {
    this.consume(1);
    for (const [offset, line] of before.entries()) {
      const found = this.lines[at + offset];
      // The last line may have gained a line feed since the patch was made.
      const isSame = found === line || (mayEnd && this.isEnd(at + offset) && found === `${line}\n`);
      if (this.isDone[at + offset] || !isSame) return false;
      this.consume(1);
    }
    return true;
  }

  private isEnd(line: number): boolean {
    return line === this.lines.length - 1;
  }

  private consume(steps: number): void {
    this.stepsLeft -= steps;
    if (this.stepsLeft < 0) throw overLimit("too much to search for where the patch belongs");
  }
}

/** Replaces `count` items of a list. Not by `toSpliced`: a call cannot have a million arguments. */
const replaced = <T>(list: T[], at: number, count: number, items: readonly T[]): T[] =>
  list.slice(0, at).concat(items, list.slice(at + count));

function splitLines(text: ByteText): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start) + 1 || text.length;
    lines.push(text.slice(start, end));
    if (lines.length > LINES_MAX) throw overLimit("a file of too many lines");
    start = end;
  }
  return lines;
}
