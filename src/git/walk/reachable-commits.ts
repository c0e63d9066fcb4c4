import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { byGeneration, type NodeQueue } from "./node-queue.ts";

/**
 * Commits taken from the queue before the rest is walked at once, which costs less for each commit.
 */
const NEAR_MAX = 1000;

/**
 * The commits that some tips reach, found on demand: commits close to the tips without a
 * walk of the whole history.
 */
export class ReachableCommits {
  /** Number of commits walked so far. */
  walked = 0;
  private readonly graph: CommitGraph;
  /**
   * The number of a tip that reaches each node, counted from one; 0 for a node that no walked one
   * leads to.
   */
  private readonly tips: Uint32Array;
  private readonly queue: NodeQueue;

  /** @param tips Nodes; `NO_NODE` is skipped. */
  constructor(graph: CommitGraph, tips: readonly Node[]) {
    this.graph = graph;
    this.tips = new Uint32Array(graph.count);
    this.queue = byGeneration(graph);
    for (const [at, node] of tips.entries()) this.reach(node, at + 1);
  }

  /** Memory held in bytes. */
  get heldBytes(): number {
    return this.tips.byteLength;
  }

  /**
   * The index of a tip that reaches a commit; undefined if none does.
   *
   * Cost: the commits of higher generations that were not walked before.
   */
  tipOf(node: Node): number | undefined {
    if (node === NO_NODE) return undefined;
    const { generations } = this.graph;
    while (this.tips[node] === 0) {
      const { first } = this.queue;
      // Descendants have higher generations, so no other commit of the queue leads to the node.
      if (first === undefined || (generations[first] as number) <= (generations[node] as number)) {
        return undefined;
      }
      if (this.walked < NEAR_MAX) this.walkNext();
      else this.walkAll();
    }
    return (this.tips[node] as number) - 1;
  }

  /** Walks all commits that were not walked before. */
  walkAll(): void {
    const stack: Node[] = [];
    for (let node = this.queue.pop(); node !== undefined; node = this.queue.pop()) stack.push(node);
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      this.walked++;
      const tip = this.tips[node] as number;
      for (const parent of this.graph.parents(node)) {
        if (parent === NO_NODE || this.tips[parent] !== 0) continue;
        this.tips[parent] = tip;
        stack.push(parent);
      }
    }
  }

  private walkNext(): void {
    const node = this.queue.pop() as Node;
    this.walked++;
    for (const parent of this.graph.parents(node)) this.reach(parent, this.tips[node] as number);
  }

  private reach(node: Node, tip: number): void {
    if (node === NO_NODE || this.tips[node] !== 0) return;
    this.tips[node] = tip;
    this.queue.push(node);
  }
}
