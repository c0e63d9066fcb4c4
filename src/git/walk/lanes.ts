import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";

/** The part of a drawing of history that belongs to one commit. Lanes are columns, from 0. */
export interface LaneRow {
  /** The lane in which the commit is. */
  readonly lane: number;
  /** The lanes from above that end in the commit. */
  readonly above: readonly number[];
  /** The lanes below on which its parents follow. */
  readonly below: readonly number[];
  /** The lanes that pass by. */
  readonly passing: readonly number[];
}

/**
 * Places commits in lanes, each of which leads to the commit that comes next in it. A lane keeps
 * its column until it ends, and the first free one is used again.
 *
 * Cost: the number of lanes for each commit.
 */
export class Lanes {
  private readonly graph: CommitGraph;
  /** The commit to which each lane leads; `NO_NODE` for one that is free. */
  private readonly next: Node[] = [];

  constructor(graph: CommitGraph) {
    this.graph = graph;
  }

  /** The number of columns. */
  get width(): number {
    return this.next.length;
  }

  /** Places the next commit. None of its children may come later. */
  place(node: Node): LaneRow {
    const { next } = this;
    const above = next.flatMap((each, lane) => (each === node ? [lane] : []));
    const lane = above[0] ?? this.findFree();
    for (const ended of above) next[ended] = NO_NODE;
    const passing = next.flatMap((each, at) => (each === NO_NODE ? [] : [at]));
    const below: number[] = [];
    for (const [at, parent] of this.graph.parents(node).entries()) {
      if (parent === NO_NODE) continue;
      const known = next.indexOf(parent);
      // The first parent goes on in the lane of the commit, unless another lane leads to it.
      const follows = known >= 0 ? known : at === 0 ? lane : this.findFree();
      next[follows] = parent;
      if (!below.includes(follows)) below.push(follows);
    }
    return { lane, above, below, passing };
  }

  private findFree(): number {
    const free = this.next.indexOf(NO_NODE);
    return free < 0 ? this.next.length : free;
  }
}
