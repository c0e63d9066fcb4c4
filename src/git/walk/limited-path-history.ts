import { type Budget, UNLIMITED } from "../budget.ts";
import { overLimit } from "../error.ts";
import { type CommitGraph, NO_NODE, type Node } from "./commit-graph.ts";
import { followedParents, type LogRange } from "./log.ts";
import { byTime, type NodeQueue } from "./node-queue.ts";
import type { PathFinder } from "./path-finder.ts";

/** Marks of a commit, modeled on git's own. */
const SEEN = 1;
const EXCLUDED = 2;
/** Excluded explicitly by the range, not as an ancestor. */
const BOTTOM = 4;
/** The entry at the path is equal to that of a parent. */
const UNCHANGED = 8;
const PARSED = 16;
const QUEUED = 32;

/** Steps to walk over a commit, beside those of its reads. */
const STEPS_PER_COMMIT = 100;

/**
 * How many more excluded commits are visited when none should matter any more: clocks may be wrong.
 */
const SLOP = 5;

/**
 * Lists the commits of a range that changed a path, exactly as
 * `git log <tips> ^<excluded> -- <path>` does, even where the result depends on the order in which
 * git discovers that a commit is excluded. A merge follows a side that left the path unchanged
 * unless that side is already known to be excluded.
 *
 * Cost: the range, and the excluded commits down to the earliest commit time of the range.
 *
 * @throws GitError `limit` once the budget is exhausted.
 * @see `limit_list` and `try_to_simplify_commit` in git's revision.c
 */
export async function logPathLimited(
  graph: CommitGraph,
  finder: PathFinder,
  range: LogRange,
  budget: Budget = UNLIMITED,
): Promise<Node[]> {
  return new LimitedWalk(graph, finder, range, budget).run();
}

class LimitedWalk {
  private readonly graph: CommitGraph;
  private readonly finder: PathFinder;
  private readonly range: LogRange;
  private readonly queue: NodeQueue;
  private readonly marks: Uint8Array;
  /** For a commit whose path is equal to a parent's: the only parent that is followed. */
  private readonly simplified = new Map<Node, Node>();
  /** Number of queued commits that are not excluded. */
  private includedQueued = 0;

  private readonly budget: Budget;

  constructor(graph: CommitGraph, finder: PathFinder, range: LogRange, budget: Budget) {
    this.budget = budget;
    this.graph = graph;
    this.finder = finder;
    this.range = range;
    this.queue = byTime(graph);
    this.marks = new Uint8Array(graph.count);
  }

  async run(): Promise<Node[]> {
    const { tips, excluded = [], sinceSeconds = Number.NEGATIVE_INFINITY } = this.range;
    for (const node of excluded) {
      this.mark(node, PARSED | BOTTOM);
      this.exclude(node);
      this.excludeParents(node);
    }
    for (const node of tips) this.mark(node, PARSED);
    for (const node of [...tips, ...excluded]) this.put(node);

    const listed: Node[] = [];
    let time = Number.POSITIVE_INFINITY;
    let slop = SLOP;
    for (let node = this.take(); node !== undefined; node = this.take()) {
      this.budget.consume(STEPS_PER_COMMIT);
      if (this.budget.isExhausted) throw overLimit("the range has too many commits");
      await this.budget.pause();
      const nodeTime = this.graph.times[node] as number;
      if (nodeTime < sinceSeconds) this.mark(node, EXCLUDED);
      if (this.has(node, EXCLUDED)) {
        this.passExclusion(node);
        this.excludeParents(node);
        slop = this.nextSlop(time, slop);
        if (slop === 0) break;
        continue;
      }
      await this.simplify(node);
      for (const parent of this.parents(node)) {
        this.mark(parent, PARSED);
        this.put(parent);
      }
      time = nodeTime;
      listed.push(node);
    }
    return listed.filter((node) => !this.has(node, EXCLUDED | UNCHANGED));
  }

  private has(node: Node, marks: number): boolean {
    return ((this.marks[node] as number) & marks) !== 0;
  }

  private mark(node: Node, marks: number): void {
    this.marks[node] = (this.marks[node] as number) | marks;
  }

  private put(node: Node): void {
    if (this.has(node, SEEN)) return;
    this.mark(node, SEEN | QUEUED);
    this.queue.push(node);
    if (!this.has(node, EXCLUDED)) this.includedQueued++;
  }

  private take(): Node | undefined {
    const node = this.queue.pop();
    if (node === undefined) return undefined;
    this.marks[node] = (this.marks[node] as number) & ~QUEUED;
    if (!this.has(node, EXCLUDED)) this.includedQueued--;
    return node;
  }

  /** The parents that exist in a pack; for a simplified commit, only the parent to follow. */
  private parents(node: Node): Iterable<Node> {
    const followed = this.simplified.get(node);
    if (followed !== undefined) return [followed];
    return followedParents(this.graph, node, this.range.isFirstParent).filter(
      (parent) => parent !== NO_NODE,
    );
  }

  private exclude(node: Node): void {
    if (this.has(node, EXCLUDED)) return;
    if (this.has(node, QUEUED)) this.includedQueued--;
    this.mark(node, EXCLUDED);
  }

  /** Excludes the ancestors of a commit that have been read. */
  private excludeParents(node: Node): void {
    const stack = [...this.parents(node)];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (this.has(at, EXCLUDED)) continue;
      this.exclude(at);
      if (this.has(at, PARSED)) stack.push(...this.parents(at));
    }
  }

  private passExclusion(node: Node): void {
    for (const parent of this.parents(node)) {
      this.exclude(parent);
      this.mark(parent, PARSED);
      this.excludeParents(parent);
      this.put(parent);
    }
  }

  /** How many more excluded commits to visit; counts down to 0 once no other commit can follow. */
  private nextSlop(time: number, slop: number): number {
    const next = this.queue.first;
    if (next === undefined) return 0;
    const mayCome = time <= (this.graph.times[next] as number) || this.includedQueued > 0;
    return mayCome ? SLOP : slop - 1;
  }

  /** Determines whether a commit changed the path and, if it did not, which parent to follow. */
  private async simplify(node: Node): Promise<void> {
    const own = await this.finder.findAt(this.graph, node);
    const parents = [...this.parents(node)];
    let [hasRelevant, isRelevantChanged, isChanged] = [
      false,
      false,
      parents.length === 0 && own !== "",
    ];
    for (const parent of parents) {
      const isRelevant = this.has(parent, BOTTOM) || !this.has(parent, EXCLUDED);
      this.mark(parent, PARSED);
      const isSame = (await this.finder.findAt(this.graph, parent)) === own;
      if (isSame && isRelevant) {
        this.simplified.set(node, parent);
        this.mark(node, UNCHANGED);
        return;
      }
      hasRelevant ||= isRelevant;
      isRelevantChanged ||= isRelevant && !isSame;
      isChanged ||= !isSame;
    }
    // Excluded parents count only if every parent is excluded.
    if (hasRelevant ? !isRelevantChanged : !isChanged) this.mark(node, UNCHANGED);
  }
}
