/**
 * Which differences in white space count when lines are compared: all of them, or none
 * (`git diff -w`), or none but where one line has white space and the other has not (`-b`), or none
 * at the end of a line (`--ignore-space-at-eol`).
 */
export type Whitespace = "show-all" | "ignore-all" | "ignore-change" | "ignore-eol";

const SPACE = 0x20;

/** A tab, a line feed, a carriage return or a space: what git counts as white space. */
const isSpace = (byte: number | undefined): boolean =>
  byte === SPACE || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/**
 * The bytes of a line to compare: two lines are equal in this way of comparing if these bytes are
 * equal.
 *
 * @param line With its line feed, which counts as white space at its end.
 * @see xdl_recmatch in git's xdiff/xutils.c.
 */
export function comparedBytes(line: Uint8Array, whitespace: Whitespace): Uint8Array {
  if (whitespace === "show-all") return line;
  let end = line.length;
  while (end > 0 && isSpace(line[end - 1])) end--;
  const trimmed = line.subarray(0, end);
  if (whitespace === "ignore-eol") return trimmed;
  const first = trimmed.findIndex(isSpace);
  return first < 0 ? trimmed : withoutSpaces(trimmed, first, whitespace === "ignore-change");
}

/** @param first The first white space of a line, before which all bytes are kept. */
function withoutSpaces(line: Uint8Array, first: number, areRunsKept: boolean): Uint8Array {
  // Not `slice()`, which copies nothing of a Buffer.
  const kept = new Uint8Array(line);
  let end = first;
  for (let at = first; at < line.length; at++) {
    const byte = line[at] as number;
    if (!isSpace(byte)) kept[end++] = byte;
    else if (areRunsKept && !isSpace(line[at - 1])) kept[end++] = SPACE;
  }
  return kept.subarray(0, end);
}
