import { type ByteText, byteTextBytes } from "../byte-text.ts";
import type { Lines } from "../diff/lines.ts";
import { joinBytes } from "../wire/pkt-line.ts";
import type { ConflictStyle, LineMerge } from "./merge-lines.ts";

/** Signs of a conflict marker, unless a conflict lies within a conflict. */
const MARKER_CHARS = 7;

/** What stands behind the markers of a conflict. */
export interface ConflictLabels {
  readonly ours: ByteText;
  /** Shown in the style `diff3`. */
  readonly base: ByteText;
  readonly theirs: ByteText;
}

/**
 * The text of a merge, with conflicts between the markers of `git merge`.
 *
 * @param extraChars How much longer markers are than usual.
 */
export function mergedText(
  merge: LineMerge,
  labels: ConflictLabels,
  style: ConflictStyle = "merge",
  extraChars = 0,
): Uint8Array {
  const { base, ours, theirs, hunks } = merge;
  const parts: Uint8Array[] = [];
  let done = 0;
  for (const hunk of hunks) {
    const { ourStart, ourEnd, theirStart, theirEnd } = hunk;
    parts.push(slice(ours, done, ourStart));
    done = ourEnd;
    if (hunk.kind === "ours") {
      parts.push(slice(ours, ourStart, ourEnd));
      continue;
    }
    if (hunk.kind === "theirs") {
      parts.push(slice(theirs, theirStart, theirEnd));
      continue;
    }
    const end = hasCarriageReturns(merge, ourStart, theirStart) ? "\r\n" : "\n";
    const marker = (char: string, label: string): Uint8Array => {
      const name = label === "" ? "" : ` ${label}`;
      return byteTextBytes(`${char.repeat(MARKER_CHARS + extraChars)}${name}${end}` as ByteText);
    };
    parts.push(marker("<", labels.ours), ...wholeLines(ours, ourStart, ourEnd, end));
    if (style === "diff3") {
      parts.push(marker("|", labels.base));
      parts.push(...wholeLines(base, hunk.baseStart, hunk.baseEnd, end));
    }
    parts.push(marker("=", ""), ...wholeLines(theirs, theirStart, theirEnd, end));
    parts.push(marker(">", labels.theirs));
  }
  parts.push(slice(ours, done, ours.count));
  return joinBytes(parts);
}

function slice(lines: Lines, start: number, end: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[start], lines.starts[end]);
}

/** Lines of which the last is ended if it was not, so that a marker can follow. */
function wholeLines(lines: Lines, start: number, end: number, lineEnd: string): Uint8Array[] {
  const bytes = slice(lines, start, end);
  if (bytes.length === 0 || bytes.at(-1) === 0x0a) return [bytes];
  return [bytes, byteTextBytes(lineEnd as ByteText)];
}

/** True if the lines before the conflict end in CR LF on both sides, or the base's first. */
function hasCarriageReturns(merge: LineMerge, ourStart: number, theirStart: number): boolean {
  const { base, ours, theirs } = merge;
  let answer = endsInCarriageReturn(ours, Math.max(ourStart - 1, 0));
  if (answer !== false) answer = endsInCarriageReturn(theirs, Math.max(theirStart - 1, 0));
  if (answer !== false) answer = endsInCarriageReturn(base, 0);
  return answer === true;
}

/** How a line ends, or the one before for a last line without end; undefined if that is unknown. */
function endsInCarriageReturn(lines: Lines, line: number): boolean | undefined {
  if (lines.count === 0) return undefined;
  let end = lines.starts[line + 1] as number;
  let start = lines.starts[line] as number;
  if (lines.bytes[end - 1] !== 0x0a) {
    if (line === 0) return undefined;
    end = start;
    start = lines.starts[line - 1] as number;
  }
  return end - start > 1 && lines.bytes[end - 2] === 0x0d;
}
