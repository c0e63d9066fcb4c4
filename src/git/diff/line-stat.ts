import type { LineDiff } from "./line-diff.ts";

/** How many lines of a text changed. */
export interface LineStat {
  readonly added: number;
  readonly removed: number;
}

/** Counts as `git diff --numstat`. */
export function countLines({ changes }: Pick<LineDiff, "changes">): LineStat {
  let added = 0;
  let removed = 0;
  for (const change of changes) {
    added += change.rightCount;
    removed += change.leftCount;
  }
  return { added, removed };
}
