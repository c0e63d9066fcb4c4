import { encodeUtf8 } from "../byte-text.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Replaces lines of a file with what a reviewer suggests.
 *
 * The new lines end as the replaced ones do: with a carriage return where the first of them has
 * one, and without a line feed at the end of a file that had none.
 *
 * @param startLine The first line to replace, counted from 1; `endLine` is the last.
 * @param replacement Lines with a line feed each, where the last one may be missing. "" removes the
 *   lines.
 * @returns Undefined if the file does not have these lines.
 */
export function applySuggestion(
  text: Uint8Array,
  startLine: number,
  endLine: number,
  replacement: string,
): Uint8Array | undefined {
  if (!Number.isInteger(startLine) || !Number.isInteger(endLine)) return undefined;
  if (startLine < 1 || endLine < startLine) return undefined;
  const start = startOfLine(text, startLine);
  const lastStart = startOfLine(text, endLine);
  if (start === undefined || lastStart === undefined) return undefined;
  const end = endOfLine(text, lastStart);
  const fresh = encodeUtf8(withEnding(replacement, lineEndingAt(text, start)));
  const isUnterminated = end === text.length && text[end - 1] !== LINE_FEED;
  const kept = isUnterminated ? withoutEnding(fresh) : fresh;

  const result = new Uint8Array(start + kept.length + text.length - end);
  result.set(text.subarray(0, start));
  result.set(kept, start);
  result.set(text.subarray(end), start + kept.length);
  return result;
}

/** The offset of a line; undefined beyond the last one. */
function startOfLine(text: Uint8Array, line: number): number | undefined {
  let start = 0;
  for (let passed = 1; passed < line && start < text.length; passed++) {
    start = endOfLine(text, start);
  }
  return start < text.length ? start : undefined;
}

/** The offset after the line that starts at `start`. */
function endOfLine(text: Uint8Array, start: number): number {
  const feed = text.indexOf(LINE_FEED, start);
  return feed < 0 ? text.length : feed + 1;
}

function lineEndingAt(text: Uint8Array, start: number): "\n" | "\r\n" {
  return text[endOfLine(text, start) - 2] === CARRIAGE_RETURN &&
    text[endOfLine(text, start) - 1] === LINE_FEED
    ? "\r\n"
    : "\n";
}

function withEnding(replacement: string, ending: string): string {
  if (replacement === "") return "";
  const lines = replacement.replace(/\r?\n$/, "").split(/\r?\n/);
  return lines.map((line) => line + ending).join("");
}

function withoutEnding(lines: Uint8Array): Uint8Array {
  const end = lines.at(-1) === LINE_FEED ? lines.length - 1 : lines.length;
  return lines.subarray(0, lines[end - 1] === CARRIAGE_RETURN ? end - 1 : end);
}
