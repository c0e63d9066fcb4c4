import { NumberList } from "./number-list.ts";

const START_COMMITS = 1024;

/**
 * The commits of a pack, with links as ids of the `OidPool`: about 30 bytes per commit. Commits are
 * numbered in insertion order.
 */
export class CommitLinks {
  private readonly entries = new NumberList();
  private readonly treeIds = new NumberList();
  /** End of each commit's parents in `allParentIds`. */
  private readonly parentEnds = new NumberList();
  private readonly allParentIds = new NumberList();
  private times = new Float64Array(START_COMMITS);

  get length(): number {
    return this.entries.length;
  }

  /** Memory held in bytes. */
  get heldBytes(): number {
    const lists = [this.entries, this.treeIds, this.parentEnds, this.allParentIds];
    return lists.reduce((sum, { heldBytes }) => sum + heldBytes, this.times.byteLength);
  }

  /** @param timeSeconds Committer time, in seconds since 1970. */
  add(entry: number, treeId: number, parentIds: readonly number[], timeSeconds: number): void {
    if (this.length === this.times.length) {
      const larger = new Float64Array(this.times.length * 2);
      larger.set(this.times);
      this.times = larger;
    }
    this.times[this.length] = timeSeconds;
    this.entries.push(entry);
    this.treeIds.push(treeId);
    for (const parentId of parentIds) this.allParentIds.push(parentId);
    this.parentEnds.push(this.allParentIds.length);
  }

  entry(commit: number): number {
    return this.entries.at(commit);
  }

  treeId(commit: number): number {
    return this.treeIds.at(commit);
  }

  timeSeconds(commit: number): number {
    return this.times[commit] as number;
  }

  /** Returns the parents as a view, which is stale after the next `add`. */
  parentIds(commit: number): Uint32Array {
    const start = commit === 0 ? 0 : this.parentEnds.at(commit - 1);
    return this.allParentIds.view(start, this.parentEnds.at(commit));
  }
}
