import type { LineDiff } from "./line-diff.ts";

/**
 * Finds the line of the new text that is a line of the old one, as `git blame` traces it back.
 *
 * @param line Counted from 1, as the result is.
 * @returns Undefined if the line was changed or removed, or is not there.
 */
export function followIn(diff: LineDiff, line: number): number | undefined {
  const { left, changes } = diff;
  if (!(line >= 1 && line <= left.count)) return undefined;
  let shift = 0;
  for (const { leftStart, leftCount, rightCount } of changes) {
    if (line <= leftStart) break;
    if (line <= leftStart + leftCount) return undefined;
    shift += rightCount - leftCount;
  }
  return line + shift;
}
