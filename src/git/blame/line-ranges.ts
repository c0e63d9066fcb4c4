import type { Change } from "../diff/line-diff.ts";

/** Consecutive lines of a file, and the consecutive lines of a version of it that they are. */
export interface SourceRange {
  /** The first line in the file, counted from 0. */
  readonly line: number;
  readonly count: number;
  /** The first line in the version, counted from 0. */
  readonly sourceLine: number;
}

/** Lines of a version by whether the version before it has them. */
export interface SplitRanges {
  /** The lines that the version added or changed. */
  readonly kept: SourceRange[];
  /** The lines that the version before has too, as lines of that version. */
  readonly passed: SourceRange[];
}

/**
 * Splits lines of a version by what changed in it.
 *
 * @param changes From the version before to this one.
 */
export function splitRanges(
  ranges: readonly SourceRange[],
  changes: readonly Change[],
): SplitRanges {
  const split: SplitRanges = { kept: [], passed: [] };
  let first = 0;
  let shift = 0;
  for (const range of ranges.toSorted((a, b) => a.sourceLine - b.sourceLine)) {
    // Changes above this range are above those after it as well.
    for (let above = changes[first]; above && endOf(above) <= range.sourceLine;) {
      shift += above.leftCount - above.rightCount;
      above = changes[++first];
    }
    splitRange(range, changes, first, shift, split);
  }
  return split;
}

const endOf = ({ rightStart, rightCount }: Change): number => rightStart + rightCount;

/**
 * @param first The first change that is not above the range.
 * @param shift From lines of this version to those of the version before, above that change.
 */
function splitRange(
  range: SourceRange,
  changes: readonly Change[],
  first: number,
  shift: number,
  { kept, passed }: SplitRanges,
): void {
  const end = range.sourceLine + range.count;
  const add = (to: SourceRange[], from: number, until: number, by: number): void => {
    if (from >= until) return;
    const line = range.line + from - range.sourceLine;
    to.push({ line, count: until - from, sourceLine: from + by });
  };
  let at = range.sourceLine;
  let by = shift;
  for (let next = first; at < end; next++) {
    const change = changes[next];
    const changedFrom = Math.max(at, Math.min(end, change?.rightStart ?? end));
    add(passed, at, changedFrom, by);
    if (!change) return;
    at = Math.max(changedFrom, Math.min(end, endOf(change)));
    add(kept, changedFrom, at, 0);
    by += change.leftCount - change.rightCount;
  }
}

/** Orders ranges by line, and joins those that continue each other. */
export function joinRanges<T extends SourceRange & { readonly source: number }>(
  ranges: readonly T[],
): T[] {
  const joined: T[] = [];
  for (const range of ranges.toSorted((a, b) => a.line - b.line)) {
    const last = joined.at(-1);
    const isNext =
      last?.source === range.source && last.sourceLine + last.count === range.sourceLine;
    if (isNext) joined[joined.length - 1] = { ...last, count: last.count + range.count };
    else joined.push(range);
  }
  return joined;
}
