import { runNow, type Steps } from "../budget.ts";
import { type ByteText, readByteText, utf8Length } from "../byte-text.ts";
import type { Change, LineDiff } from "./line-diff.ts";
import { lineBytes, type Lines } from "./lines.ts";

/** Unchanged lines shown around a change, by default. */
export const CONTEXT_LINES = 3;

/** Longest heading of a hunk, in bytes. */
const HEADING_BYTES_MAX = 80;

/** One line of a hunk. */
interface HunkLine {
  readonly kind: "context" | "added" | "removed";
  /** The line without its line feed. */
  readonly text: ByteText;
  /** False for a last line without a line feed. */
  readonly isTerminated: boolean;
}

/** A run of changes with the surrounding context lines. */
export interface Hunk {
  /** First line, counted from 1; the preceding line if the hunk has no lines on this side. */
  readonly leftStart: number;
  readonly leftCount: number;
  readonly rightStart: number;
  readonly rightCount: number;
  /** The nearest line above that looks like the start of a function; "" if there is none. */
  readonly heading: ByteText;
  readonly lines: readonly HunkLine[];
}

/** The hunks of a diff, as `git diff -U<context>` forms them. */
export function makeHunks(diff: LineDiff, context = CONTEXT_LINES): Hunk[] {
  return runNow(hunksInTurns(diff, context));
}

/** Lines of hunks after which their making can be interrupted, and steps for each. */
const TURN_LINES = 1000;
const LINE_STEPS = 25;

/** `makeHunks`, which can be interrupted. */
export function* hunksInTurns(diff: LineDiff, context = CONTEXT_LINES): Steps<Hunk[]> {
  const hunks: Hunk[] = [];
  let made = 0;
  let heading = "" as ByteText;
  let headingEnd = -1;
  for (let at = 0; at < diff.changes.length;) {
    const stop = endOfHunk(diff.changes, at, context);
    const first = diff.changes[at] as Change;
    const last = diff.changes[stop - 1] as Change;
    const above = Math.min(context, first.leftStart, first.rightStart);
    const leftStart = first.leftStart - above;
    const rightStart = first.rightStart - above;
    const leftLast = last.leftStart + last.leftCount;
    const rightLast = last.rightStart + last.rightCount;
    const below = Math.min(context, diff.left.count - leftLast, diff.right.count - rightLast);
    heading = findHeading(diff.left, leftStart - 1, headingEnd) ?? heading;
    headingEnd = leftStart - 1;

    const lines: HunkLine[] = [];
    // Unchanged lines are shown as they are on the right: their white space may differ.
    let right = rightStart;
    for (const change of diff.changes.slice(at, stop)) {
      for (; right < change.rightStart; right++) {
        lines.push(contextLine(diff.right, right));
      }
      const leftEnd = change.leftStart + change.leftCount;
      for (let left = change.leftStart; left < leftEnd; left++) {
        lines.push(hunkLine("removed", diff.left, left));
        if (++made % TURN_LINES === 0) yield LINE_STEPS * TURN_LINES;
      }
      const rightEnd = change.rightStart + change.rightCount;
      for (; right < rightEnd; right++) {
        lines.push(hunkLine("added", diff.right, right));
        if (++made % TURN_LINES === 0) yield LINE_STEPS * TURN_LINES;
      }
    }
    for (; right < rightLast + below; right++) lines.push(contextLine(diff.right, right));

    const leftCount = leftLast + below - leftStart;
    const rightCount = rightLast + below - rightStart;
    hunks.push({
      leftStart: leftCount === 0 ? leftStart : leftStart + 1,
      leftCount,
      rightStart: rightCount === 0 ? rightStart : rightStart + 1,
      rightCount,
      heading,
      lines,
    });
    at = stop;
  }
  return hunks;
}

/** The index after the last change in the same hunk as `first`. */
function endOfHunk(changes: readonly Change[], first: number, context: number): number {
  let at = first + 1;
  for (; at < changes.length; at++) {
    const before = changes[at - 1] as Change;
    const gap = (changes[at] as Change).leftStart - (before.leftStart + before.leftCount);
    if (gap > 2 * context) break;
  }
  return at;
}

/** An unchanged line, as it is on the right side. */
export const contextLine = (right: Lines, line: number): HunkLine =>
  hunkLine("context", right, line);

function hunkLine(kind: HunkLine["kind"], lines: Lines, line: number): HunkLine {
  const bytes = lineBytes(lines, line);
  const isTerminated = bytes.at(-1) === 0x0a;
  const text = readByteText(bytes, 0, isTerminated ? bytes.length - 1 : bytes.length);
  return { kind, text, isTerminated };
}

/** The nearest line above that starts with a letter, an underscore or a dollar sign. */
function findHeading(lines: Lines, from: number, downTo: number): ByteText | undefined {
  for (let line = from; line > downTo && line >= 0; line--) {
    const bytes = lineBytes(lines, line);
    const text = readByteText(bytes, 0, Math.min(bytes.length, HEADING_BYTES_MAX));
    if (/^[A-Za-z_$]/.test(text)) return cutToUtf8(text.replace(/[ \t\n\r]+$/, "") as ByteText);
  }
  return undefined;
}

/** The text before the first byte that is not UTF-8: cutting a long line may split a character. */
function cutToUtf8(text: ByteText): ByteText {
  for (let at = 0; at < text.length;) {
    const length = utf8Length(text, at);
    if (length === 0) return text.slice(0, at) as ByteText;
    at += length;
  }
  return text;
}

const MARKERS = { context: " ", added: "+", removed: "-" } as const;

/** A hunk in patch format. */
export function formatHunk(hunk: Hunk): ByteText {
  const heading = hunk.heading === "" ? "" : ` ${hunk.heading}`;
  const left = formatRange(hunk.leftStart, hunk.leftCount);
  const right = formatRange(hunk.rightStart, hunk.rightCount);
  let text = `@@ -${left} +${right} @@${heading}\n`;
  for (const line of hunk.lines) {
    text += `${MARKERS[line.kind]}${line.text}\n`;
    if (!line.isTerminated) text += "\\ No newline at end of file\n";
  }
  return text as ByteText;
}

function formatRange(start: number, count: number): string {
  return count === 1 ? String(start) : `${start},${count}`;
}
