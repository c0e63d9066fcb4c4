import { type ByteText, byteTextBytes, readByteText } from "../byte-text.ts";
import { corrupt, overLimit } from "../error.ts";
import type { PatchHunk } from "./file-patch.ts";

/** Lines of a file at most. */
const LINES_MAX = 1_000_000;
/** Lines that are compared for one file at most, in search of where its hunks belong. */
const STEPS_MAX = 50_000_000;

/**
 * Applies hunks to a file: each where it says that it belongs, or else at the nearest place that
 * fits. All of its lines must be there.
 *
 * @param name For what is said of a hunk that belongs nowhere.
 * @throws GitError `corrupt` for such a hunk, `limit` for a file of too many lines.
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
  /** Whether a hunk has left a line: what it has left no other may take. */
  private isDone: boolean[];
  private stepsLeft = STEPS_MAX;

  constructor(lines: string[]) {
    this.lines = lines;
    this.isDone = lines.map(() => false);
  }

  text(): ByteText {
    return this.lines.join("") as ByteText;
  }

  /** False if the hunk belongs nowhere. */
  apply(hunk: PatchHunk): boolean {
    const at = this.findPlace(hunk);
    if (at < 0) return false;
    const { before, after } = hunk;
    // What is copied by that is work too.
    this.spend(this.lines.length >> 4);
    this.lines = replaced(this.lines, at, before.length, after);
    const done = after.map(() => true);
    this.isDone = replaced(this.isDone, at, before.length, done);
    return true;
  }

  /** The line where a hunk belongs, as git searches it; negative for none. */
  private findPlace({ oldStart, newStart, before, trailing }: PatchHunk): number {
    const { length } = this.lines;
    const last = length - before.length;
    // Without lines before it, or behind it, it belongs to the beginning or the end.
    const isFirst = oldStart <= 1;
    const isLast = trailing === 0;
    if (last < 0) return -1;
    if (isFirst) return (!isLast || last === 0) && this.fits(before, 0, !isLast) ? 0 : -1;
    if (isLast) return this.fits(before, last) ? last : -1;
    const wanted = Math.min(Math.max(newStart - 1, 0), length);
    for (let distance = 0; wanted + distance <= length || wanted - distance >= 0; distance++) {
      const [forth, back] = [wanted + distance, wanted - distance];
      if (forth <= last && this.fits(before, forth, true)) return forth;
      if (distance > 0 && back >= 0 && back <= last && this.fits(before, back, true)) return back;
    }
    return -1;
  }

  private fits(before: readonly string[], at: number, mayEnd = false): boolean {
    this.spend(1);
    for (const [offset, line] of before.entries()) {
      const found = this.lines[at + offset];
      // Behind the last line a line feed may have been added since.
      const isSame = found === line || (mayEnd && this.isEnd(at + offset) && found === `${line}\n`);
      if (this.isDone[at + offset] || !isSame) return false;
      this.spend(1);
    }
    return true;
  }

  private isEnd(line: number): boolean {
    return line === this.lines.length - 1;
  }

  private spend(steps: number): void {
    this.stepsLeft -= steps;
    if (this.stepsLeft < 0) throw overLimit("too much to search for where the patch belongs");
  }
}

/** Not by `toSpliced`: a call takes no million arguments. */
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
