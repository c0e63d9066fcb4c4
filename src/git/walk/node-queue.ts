import type { CommitGraph, Node } from "./commit-graph.ts";

/** A priority queue: the smallest node comes out first; equal nodes come out in insertion order. */
export class NodeQueue {
  private readonly nodes: Node[] = [];
  /** The insertion number of each node of the heap. */
  private readonly turns: number[] = [];
  private turn = 0;
  private readonly compare: (a: Node, b: Node) => number;

  constructor(compare: (a: Node, b: Node) => number) {
    this.compare = compare;
  }

  get size(): number {
    return this.nodes.length;
  }

  /** The node that `pop` returns next. */
  get first(): Node | undefined {
    return this.nodes[0];
  }

  push(node: Node): void {
    let at = this.nodes.length;
    this.nodes.push(node);
    this.turns.push(this.turn++);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.isOrdered(parent, at)) break;
      this.swap(parent, at);
      at = parent;
    }
  }

  pop(): Node | undefined {
    const [first] = this.nodes;
    const last = this.nodes.length - 1;
    if (first === undefined) return undefined;
    this.swap(0, last);
    this.nodes.pop();
    this.turns.pop();
    for (let at = 0; ;) {
      let smallest = at;
      const left = 2 * at + 1;
      if (left < last && !this.isOrdered(smallest, left)) smallest = left;
      if (left + 1 < last && !this.isOrdered(smallest, left + 1)) smallest = left + 1;
      if (smallest === at) return first;
      this.swap(at, smallest);
      at = smallest;
    }
  }

  private isOrdered(a: number, b: number): boolean {
    const order = this.compare(this.nodes[a] as Node, this.nodes[b] as Node);
    return order !== 0 ? order < 0 : (this.turns[a] as number) < (this.turns[b] as number);
  }

  private swap(a: number, b: number): void {
    [this.nodes[a], this.nodes[b]] = [this.nodes[b] as Node, this.nodes[a] as Node];
    [this.turns[a], this.turns[b]] = [this.turns[b] as number, this.turns[a] as number];
  }
}

/** Latest first: the order in which history is shown. */
export function byTime(graph: CommitGraph): NodeQueue {
  return new NodeQueue((a, b) => (graph.times[b] as number) - (graph.times[a] as number));
}

/**
 * Children before parents, even if commit times are wrong. Walks that pass marks to parents use
 * this order, so that a node has all its marks when it is popped.
 */
export function byGeneration(graph: CommitGraph): NodeQueue {
  return new NodeQueue(
    (a, b) => (graph.generations[b] as number) - (graph.generations[a] as number),
  );
}
