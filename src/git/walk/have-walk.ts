import type { Oid } from "../oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { byTime, type NodeQueue } from "./node-queue.ts";

/** In the queue, or was there. */
const SEEN = 1;
const TAKEN = 2;
/** The other side has it, and all that it reaches: not worth naming. */
const COMMON = 4;
/** A ref of the other side: worth naming once, but nothing that it reaches is. */
const COMMON_TIP = 8;

/**
 * The commits that a client names to a server, newest first, as git's default negotiator chooses
 * them: from its refs down, without what is known to be on the other side.
 *
 * Cost: the commits that are taken.
 */
export class HaveWalk implements Iterable<Oid> {
  private readonly graph: CommitGraph;
  private readonly flags: Uint8Array;
  private readonly queue: NodeQueue;
  /** Queued commits that are not common: without any, there is nothing left to name. */
  private waiting = 0;

  /**
   * @param tips   The commits of this side's refs. `NO_NODE` is skipped, as in `common`.
   * @param common The commits of the remote refs that local refs reach.
   */
  constructor(graph: CommitGraph, tips: readonly Node[], common: readonly Node[]) {
    this.graph = graph;
    this.flags = new Uint8Array(graph.count);
    this.queue = byTime(graph);
    for (const node of common) this.push(node, COMMON_TIP);
    for (const node of tips) this.push(node, 0);
  }

  *[Symbol.iterator](): Generator<Oid> {
    const { flags, graph } = this;
    while (this.waiting > 0) {
      const node = this.queue.pop() as Node;
      const flag = flags[node] as number;
      flags[node] = flag | TAKEN;
      const isCommon = (flag & COMMON) !== 0;
      if (!isCommon) this.waiting--;
      const isBelowCommon = isCommon || (flag & COMMON_TIP) !== 0;
      for (const parent of graph.parents(node)) {
        if (parent === NO_NODE) continue;
        if (isBelowCommon) this.mark(parent);
        this.push(parent, 0);
      }
      if (!isCommon) yield graph.oid(node);
    }
  }

  /** Takes in that the other side has a commit. */
  readonly onCommon = (oid: Oid): void => {
    this.mark(this.graph.find(oid));
  };

  private push(node: Node, flag: number): void {
    if (node === NO_NODE) return;
    const former = this.flags[node] as number;
    if ((former & SEEN) !== 0) return;
    this.flags[node] = former | SEEN | flag;
    this.queue.push(node);
    if ((former & COMMON) === 0) this.waiting++;
  }

  /**
   * Marks a commit and the seen commits that it reaches: the rest is marked when it is
   * reached.
   */
  private mark(start: Node): void {
    const { flags } = this;
    const stack = [start];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (node === NO_NODE) continue;
      const flag = flags[node] as number;
      if ((flag & COMMON) !== 0) continue;
      flags[node] = flag | COMMON;
      if ((flag & SEEN) === 0) continue;
      if ((flag & TAKEN) === 0) this.waiting--;
      for (const parent of this.graph.parents(node)) stack.push(parent);
    }
  }
}
