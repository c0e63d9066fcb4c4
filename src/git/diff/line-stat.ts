import type { LineDiff } from "./line-diff.ts";

/** The number of added and removed lines of a text. */
export interface LineStat {
  readonly added: number;
  readonly removed: number;
}

/** Counts lines as `git diff --numstat` does. */
export function countLines({ changes }: Pick<LineDiff, "changes">): LineStat {
  let added = 0;
  let removed = 0;
  for (const change of changes) {
    added += change.rightCount;
    removed += change.leftCount;
  }
  return { added, removed };
}
