import type { LineDiff } from "./line-diff.ts";
import type { Lines } from "./lines.ts";
import { contextLine, type Hunk } from "./unified.ts";

/** Lines of a text, counted from 1, the last one included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** Lines that are added to the hunks of a diff, at most. */
const LINES_MAX = 2000;

/**
 * Adds the unchanged lines of the given ranges to the hunks of a diff, where they adjoin a hunk or
 * lines that adjoin it. Two hunks that meet become one.
 *
 * @param ranges Lines of the right side.
 */
export function widenHunks(
  hunks: readonly Hunk[],
  { right }: Pick<LineDiff, "right">,
  ranges: readonly LineRange[],
): Hunk[] {
  if (ranges.length === 0) return [...hunks];
  let left = LINES_MAX;
  const take = (line: number): boolean => left-- > 0 && isWithin(line, ranges);
  const widened: Hunk[] = [];
  for (const [at, hunk] of hunks.entries()) {
    const before = widened.at(-1);
    const floor = before ? endOf(before) : 0;
    let first = hunk.rightStart;
    while (first - 1 > floor && take(first - 1)) first--;
    const upwards = addAbove(hunk, right, hunk.rightStart - first);
    const isMet = before !== undefined && first - 1 === floor;
    const joined = isMet ? join(before, upwards) : upwards;
    const ceiling = hunks[at + 1]?.rightStart ?? right.count + 1;
    let last = endOf(joined);
    while (last + 1 < ceiling && take(last + 1)) last++;
    widened.splice(isMet ? -1 : widened.length, 1, addBelow(joined, right, last - endOf(joined)));
  }
  return widened;
}

const isWithin = (line: number, ranges: readonly LineRange[]): boolean =>
  ranges.some(({ first, last }) => first <= line && line <= last);

/** The last line of a hunk on the right side. */
const endOf = ({ rightStart, rightCount }: Hunk): number =>
  rightCount === 0 ? rightStart : rightStart + rightCount - 1;

function addAbove(hunk: Hunk, right: Lines, count: number): Hunk {
  if (count === 0) return hunk;
  return {
    ...hunk,
    leftStart: hunk.leftStart - count,
    leftCount: hunk.leftCount + count,
    rightStart: hunk.rightStart - count,
    rightCount: hunk.rightCount + count,
    lines: [...linesFrom(right, hunk.rightStart - count, count), ...hunk.lines],
  };
}

function addBelow(hunk: Hunk, right: Lines, count: number): Hunk {
  if (count === 0) return hunk;
  return {
    ...hunk,
    leftCount: hunk.leftCount + count,
    rightCount: hunk.rightCount + count,
    lines: [...hunk.lines, ...linesFrom(right, endOf(hunk) + 1, count)],
  };
}

const join = (above: Hunk, below: Hunk): Hunk => ({
  ...above,
  leftCount: above.leftCount + below.leftCount,
  rightCount: above.rightCount + below.rightCount,
  lines: [...above.lines, ...below.lines],
});

/** @param first Counted from 1. */
const linesFrom = (right: Lines, first: number, count: number): Hunk["lines"] =>
  Array.from({ length: count }, (_, at) => contextLine(right, first - 1 + at));
