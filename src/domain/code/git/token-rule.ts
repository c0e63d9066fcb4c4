import { beyondRefs, pathMatcher, refMatcher } from "../../../auth/access/credential-reach.ts";
import type { Ctx } from "../../../context.ts";
import type { ByteText } from "../../../git/byte-text.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import { findChangedPath } from "../../../git/diff/find-changed-path.ts";
import { quotePath } from "../../../git/diff/quote-path.ts";
import { GitError, overLimit } from "../../../git/error.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findRange } from "../../../git/walk/log.ts";
import { peel } from "../../../git/walk/peel.ts";
import type { ReachableObjects } from "../../../git/walk/reachable-objects.ts";
import { BeyondToken } from "../../../lib/failure.ts";
import { StepBudget } from "../../../lib/step-budget.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { RefUpdate } from "../../../storage/repository-records.ts";

/** Steps to compare the paths of all commits of a push: about a second of processor time. */
const COMPARISON_STEPS_MAX = 100_000_000;
/** Steps for each commit, besides the comparison of its trees. */
const STEPS_PER_COMMIT = 1000;

/** The repository of a push, with its pack, and its refs as they were before. */
interface PushTarget {
  readonly repository: OpenRepository;
  readonly reachable: ReachableObjects;
}

/**
 * Checks the ref updates of one push against the refs and paths to which the caller's token is
 * bound.
 *
 * Refs: a full name must match, whether the ref is created, updated or deleted.
 *
 * Paths:
 * - Each commit that an update brings to its ref may differ from its parent in matching paths only;
 *   a merge from one of its parents. To an existing ref it brings the commits that the ref did not
 *   reach, to a new one those that no branch and no tag reached.
 * - The new value of an existing ref may differ from the old one in matching paths only, so that
 *   neither a merge nor a forced update takes another path back to an older state.
 * - No ref is deleted, which would take all its paths away, and none leads to anything but a
 *   commit.
 *
 * Cost: nothing for a token without these bindings. With a binding to paths, a read of the trees
 * above what differs, within one budget for the whole push; beyond it an update is refused.
 */
export class TokenRule {
  private readonly target: PushTarget;
  private readonly isRefAllowed: ReturnType<typeof refMatcher>;
  private readonly isPathAllowed: ReturnType<typeof pathMatcher>;
  /** Without the signal of a caller who leaves: a push that was received is applied. */
  private readonly budget: StepBudget;

  constructor({ actor, git: { usage } }: Pick<Ctx, "actor" | "git">, target: PushTarget) {
    this.target = target;
    this.isRefAllowed = refMatcher(actor);
    this.isPathAllowed = pathMatcher(actor);
    this.budget = new StepBudget(COMPARISON_STEPS_MAX, {
      onSteps: (steps) => void (usage.steps += steps),
    });
  }

  /** Returns why the token may not make an update; undefined if it may. */
  async findRefusal(update: RefUpdate): Promise<BeyondToken | undefined> {
    try {
      if (this.isRefAllowed?.(update.ref as ByteText, this.budget) === false) return beyondRefs();
      if (this.isPathAllowed) await this.requirePaths(update);
      return undefined;
    } catch (error) {
      if (error instanceof BeyondToken) return error;
      if (error instanceof GitError && error.code === "limit") {
        return beyondPaths("the push changes too much to compare its paths: push fewer commits");
      }
      throw error;
    }
  }

  private async requirePaths({ ref, oldOid, newOid, peeledOid }: RefUpdate): Promise<void> {
    if (newOid === null) throw beyondPaths("the token is bound to paths: it deletes no ref");
    if (newOid === oldOid) return;
    const { repository } = this.target;
    const { graph } = repository;
    const tip = graph.find(peeledOid ?? newOid);
    if (tip === NO_NODE) throw beyondPaths("the token is bound to paths: a ref leads to a commit");
    const before = oldOid === null ? undefined : await resident(() => commitOf(repository, oldOid));
    const known = oldOid === null ? this.findKnown(graph) : [before ?? NO_NODE];
    const { nodes } = findRange(graph, [tip], known);
    for (const node of nodes) await this.requireCommitInPaths(graph, node);
    if (oldOid === null) return;
    const path = await this.findBeyond(graph, before, tip);
    if (path !== undefined) throw beyondPaths(`the update of ${ref} changes ${quotePath(path)}`);
  }

  /** The commits that branches and tags named before the push. Other refs may come from anyone. */
  private findKnown(graph: CommitGraph): Node[] {
    return this.target.reachable.refs
      .filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name))
      .map(({ oid, peeledOid }) => graph.find(peeledOid ?? oid));
  }

  private async requireCommitInPaths(graph: CommitGraph, node: Node): Promise<void> {
    this.budget.consume(STEPS_PER_COMMIT);
    if (this.budget.isExhausted) throw overLimit("too many commits");
    const parents = graph.parents(node);
    let beyond = parents.length === 0 ? await this.findBeyond(graph, undefined, node) : undefined;
    for (const parent of parents) {
      beyond = await this.findBeyond(graph, parent, node);
      if (beyond === undefined) return;
    }
    if (beyond === undefined) return;
    throw beyondPaths(`commit ${graph.oid(node).slice(0, 10)} changes ${quotePath(beyond)}`);
  }

  /** Finds a path that differs between two commits and that the token does not name. */
  private async findBeyond(
    graph: CommitGraph,
    before: Node | undefined,
    after: Node,
  ): Promise<ByteText | undefined> {
    const { budget, isPathAllowed } = this;
    const objects = this.target.repository.objects.within(budget);
    const treeOf = async (node: Node | undefined): Promise<Oid | undefined> =>
      node === undefined || node === NO_NODE ? undefined : resident(() => graph.rootOid(node));
    const isBeyond = (path: ByteText): boolean => isPathAllowed?.(path, budget) === false;
    const trees = [await treeOf(before), await treeOf(after)] as const;
    return findChangedPath(objects, ...trees, isBeyond, budget);
  }
}

/** The commit to which an object peels; undefined if it is none. */
function commitOf({ catalog, graph }: OpenRepository, oid: Oid): Node | undefined {
  const location = catalog.find(oid);
  const peeled = location && peel(catalog, location);
  const node = peeled ? graph.nodeAt(peeled) : NO_NODE;
  return node === NO_NODE ? undefined : node;
}

const beyondPaths = (rule: string): BeyondToken => new BeyondToken("token-paths", rule);
