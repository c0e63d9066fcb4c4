import type { ByteText } from "../byte-text.ts";
import type { LineDiff } from "./line-diff.ts";
import { formatHunk, type Hunk, makeHunks } from "./unified.ts";

/** One of the two texts of a diff. */
export type DiffSide = "old" | "new";

/** Lines of a hunk that are shown with a comment, the line itself included, as in Gitea. */
const SHOWN_LINES = 4;

/**
 * The part of a diff that a comment on a line is shown with: the header of the line's hunk and its
 * lines up to this one. Of more than `shownLines` lines only the last are kept, with a header of
 * their own.
 *
 * @param line Counted from 1, on the given side.
 * @returns Without a line feed at its end; "" for a line that `git diff` does not show.
 */
export function hunkAround(
  diff: LineDiff,
  side: DiffSide,
  line: number,
  shownLines = SHOWN_LINES,
): ByteText {
  for (const hunk of makeHunks(diff)) {
    const end = endOfLine(hunk, side, line);
    if (end === undefined) continue;
    const start = Math.max(0, end - shownLines);
    const cut = start > 0 ? cutHunk(hunk, start, end) : hunk;
    // The line itself is shown without a remark on its line feed.
    const last = { ...(hunk.lines[end - 1] as Hunk["lines"][number]), isTerminated: true };
    const lines = [...hunk.lines.slice(start, end - 1), last];
    return formatHunk({ ...cut, lines }).slice(0, -1) as ByteText;
  }
  return "" as ByteText;
}

/**
 * How many lines of a hunk there are up to and with a line of one side; undefined if it is not
 * among them.
 */
function endOfLine(hunk: Hunk, side: DiffSide, line: number): number | undefined {
  const other = side === "old" ? "added" : "removed";
  let left = line - (side === "old" ? hunk.leftStart : hunk.rightStart);
  if (left < 0) return undefined;
  for (const [at, { kind }] of hunk.lines.entries()) {
    if (kind !== other && left-- === 0) return at + 1;
  }
  return undefined;
}

/** The lines `start` to `end` of a hunk, as a hunk without a heading. */
function cutHunk(hunk: Hunk, start: number, end: number): Hunk {
  const [before, lines] = [hunk.lines.slice(0, start), hunk.lines.slice(start, end)];
  const countOld = (of: Hunk["lines"]): number => of.filter(({ kind }) => kind !== "added").length;
  const countNew = (of: Hunk["lines"]): number =>
    of.filter(({ kind }) => kind !== "removed").length;
  // A range without lines is named by the line before it.
  const startOf = (first: number, hunkCount: number, passed: number, count: number): number =>
    (hunkCount === 0 ? first + 1 : first) + passed - (count === 0 ? 1 : 0);
  const [leftCount, rightCount] = [countOld(lines), countNew(lines)];
  return {
    leftStart: startOf(hunk.leftStart, hunk.leftCount, countOld(before), leftCount),
    leftCount,
    rightStart: startOf(hunk.rightStart, hunk.rightCount, countNew(before), rightCount),
    rightCount,
    heading: "" as ByteText,
    lines,
  };
}
