import { type ByteText, byteTextBytes } from "../byte-text.ts";
import type { Lines } from "../diff/lines.ts";
import { joinBytes } from "../wire/pkt-line.ts";
import type { ConflictStyle, LineMerge } from "./merge-lines.ts";

/** Length of a conflict marker that is not nested in another conflict. */
const MARKER_CHARS = 7;

/** The labels after the markers of a conflict. */
export interface ConflictLabels {
  readonly ours: ByteText;
  /** Shown in the style `diff3`. */
  readonly base: ByteText;
  readonly theirs: ByteText;
}

/**
 * The text of a merge, with conflicts between the markers of `git merge`.
 *
 * @param extraChars How many characters longer than usual the markers are.
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
    parts.push(marker("<", labels.ours), ...terminatedLines(ours, ourStart, ourEnd, end));
    if (style === "diff3") {
      parts.push(marker("|", labels.base));
      parts.push(...terminatedLines(base, hunk.baseStart, hunk.baseEnd, end));
    }
    parts.push(marker("=", ""), ...terminatedLines(theirs, theirStart, theirEnd, end));
    parts.push(marker(">", labels.theirs));
  }
  parts.push(slice(ours, done, ours.count));
  return joinBytes(parts);
}

function slice(lines: Lines, start: number, end: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[start], lines.starts[end]);
}

/**
 * The bytes of a range of lines, with a line end added if it is missing, so that a marker can
 * follow.
 */
function terminatedLines(lines: Lines, start: number, end: number, lineEnd: string): Uint8Array[] {
  const bytes = slice(lines, start, end);
  if (bytes.length === 0 || bytes.at(-1) === 0x0a) return [bytes];
  return [bytes, byteTextBytes(lineEnd as ByteText)];
}

/**
 * True if conflict markers should end in CRLF: the lines before the conflict end in CRLF on both
 * sides, and so does the first line of the base. Lines whose end is unknown do not count.
 */
function hasCarriageReturns(merge: LineMerge, ourStart: number, theirStart: number): boolean {
  const { base, ours, theirs } = merge;
  let usesCrlf = endsInCarriageReturn(ours, Math.max(ourStart - 1, 0));
  if (usesCrlf !== false) usesCrlf = endsInCarriageReturn(theirs, Math.max(theirStart - 1, 0));
  if (usesCrlf !== false) usesCrlf = endsInCarriageReturn(base, 0);
  return usesCrlf === true;
}

/**
 * True if a line ends in CRLF. For a last line without line feed, the preceding line decides;
 * undefined if there is none.
 */
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
