import type { Ctx } from "../../../context.ts";
import type { BranchProtection } from "../../../db/schema/index.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import { findChangedPath } from "../../../git/diff/find-changed-path.ts";
import { GitError, overLimit } from "../../../git/error.ts";
import { parseCommit, splitSignature } from "../../../git/object/commit.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findRange } from "../../../git/walk/log.ts";
import { isAncestor } from "../../../git/walk/merge-bases.ts";
import type { ReachableObjects } from "../../../git/walk/reachable-objects.ts";
import { StepBudget } from "../../../lib/step-budget.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { RefUpdate } from "../../../storage/repository-records.ts";
import { verifySignatures } from "../signatures/verify-signatures.ts";
import { rulesOfBranch } from "./match-rule.ts";
import { isQueueBranch } from "./merge-queue-rule.ts";
import { callerOf, followsRename, mayForcePush, mayPush, type RuleSubject } from "./permitted.ts";
import { type Forbidden, ProtectedRef } from "./ref-refusal.ts";
import { type MatchesPath, pathMatcherOf } from "./rule-patterns.ts";

/** Steps to compare a push with the rules: about a second of processor time. */
const STEPS_MAX = 100_000_000;
/**
 * Steps to read a commit and to verify its signature, and to compare it besides the comparison of
 * its trees.
 */
const STEPS_PER_SIGNATURE = 20_000;
const STEPS_PER_COMMIT = 1000;
/** Commits that are read and verified at a time. */
const COMMITS_AT_ONCE = 100;
/**
 * Steps for each commit of the repository to compare two of them: a walk rarely sees more than a
 * part.
 */
const STEPS_PER_WALKED = 0.25;

const HEADS = "refs/heads/";

/** A branch that is renamed, by the full names of its refs. */
export interface BranchRename {
  readonly from: ByteText;
  readonly to: ByteText;
  /** The copy of its rule for the new name, which does not apply to the rename. */
  readonly copyId?: number | undefined;
}

/** The repository of a push, with its pack, and its refs as they were before. */
interface RulePush {
  readonly repository: OpenRepository;
  readonly reachable: ReachableObjects;
  readonly rename?: BranchRename | undefined;
}

/** Other conditions of the updates of a push. */
interface Circumstances {
  readonly defaultBranch: string;
  /**
   * Whether it is a merge that was checked already: rules about who pushes do not apply, all others
   * do.
   */
  readonly isMerge: boolean;
}

/**
 * Checks the updates of one push against the rules for branches, in Gitea's order. Before all of
 * them, only the service updates the branches of merge queues.
 *
 * 1. A protected branch is not deleted. A branch with its own exact rule may be renamed, and the
 *   rule follows it.
 * 2. A forced update needs a rule that allows it.
 * 3. If the rule requires signatures, each new commit has a verified one.
 * 4. The update changes no protected file, and the caller may push, or else it changes only
 *   unprotected files.
 *
 * A branch may have a rule of the repository and one of its organization: both must allow the
 * update. The rules bind administrators too.
 *
 * Cost: nothing for a branch without a rule. Otherwise walks and reads within one budget for the
 * whole push; beyond it an update is refused. Signatures cost a query for each hundred commits.
 */
export class BranchRule {
  private readonly ctx: Ctx;
  private readonly rules: RepositoryRules;
  private readonly push: RulePush;
  private readonly caller: RuleSubject;
  private readonly matchers = new Map<string, MatchesPath | undefined>();
  private readonly circumstances: Circumstances;
  /** Does not end when the caller disconnects: a push that was received is applied. */
  private readonly budget: StepBudget;

  constructor(ctx: Ctx, rules: RepositoryRules, push: RulePush, circumstances: Circumstances) {
    this.ctx = ctx;
    const { copyId } = push.rename ?? {};
    this.rules = { ...rules, branches: rules.branches.filter(({ id }) => id !== copyId) };
    this.push = push;
    this.caller = callerOf(ctx, rules);
    this.circumstances = circumstances;
    this.budget = new StepBudget(STEPS_MAX, {
      onSteps: (steps) => void (ctx.git.usage.steps += steps),
    });
  }

  /** Returns why a rule refuses an update; undefined if none does. */
  async findRefusal(update: RefUpdate): Promise<ProtectedRef | undefined> {
    if (!update.ref.startsWith(HEADS)) return undefined;
    const branch = decodeText(update.ref.slice(HEADS.length) as ByteText);
    const applied = rulesOfBranch(this.rules, branch, this.budget);
    const isQueues = isQueueBranch(this.rules, branch, this.budget);
    if (this.budget.isExhausted) return new ProtectedRef(branch, { kind: "too-much" });
    if (isQueues) return new ProtectedRef(branch, { kind: "merge-queue" });
    for (const rule of applied) {
      const forbidden = await this.check(rule, update, branch);
      if (forbidden) return new ProtectedRef(branch, forbidden);
    }
    return undefined;
  }

  private async check(
    rule: BranchProtection,
    update: RefUpdate,
    branch: string,
  ): Promise<Forbidden | undefined> {
    try {
      return await this.checkWithin(rule, update, branch);
    } catch (error) {
      if (error instanceof GitError && error.code === "limit") return { kind: "too-much" };
      throw error;
    }
  }

  private async checkWithin(
    { settings, ...rule }: BranchProtection,
    update: RefUpdate,
    branch: string,
  ): Promise<Forbidden | undefined> {
    const { rename, repository } = this.push;
    const { graph } = repository;
    if (update.newOid === null) {
      const isRenamed = update.ref === rename?.from && followsRename(rule, branch);
      if (isRenamed) return undefined;
      return { kind: branch === this.circumstances.defaultBranch ? "default-branch" : "deletion" };
    }
    const tip = graph.find(update.newOid);
    const before = update.oldOid === null ? undefined : graph.find(update.oldOid);
    const isForced = before !== undefined && !this.isForward(before, tip);
    if (isForced && !settings.isForcePushEnabled) return { kind: "force-push" };

    const newCommits = (): ReadonlySet<Node> => {
      this.spend(STEPS_PER_WALKED * graph.count);
      return findRange(graph, [tip], before === undefined ? this.findKnown(graph) : [before]).nodes;
    };
    if (settings.requireSignedCommits) {
      const commitOid = await this.findUnverified(newCommits());
      if (commitOid !== undefined) return { kind: "unverified", commitOid };
    }
    if (this.circumstances.isMerge) return undefined;

    const isProtected = this.matcherOf(settings.protectedFilePatterns);
    const isFound = isProtected && ((path: ByteText) => isProtected(path, this.budget));
    const path = isFound && (await this.findChanged(before, tip, newCommits, isFound));
    if (path !== undefined) return { kind: "file", path: decodeText(path) };

    const isAllowed = (isForced ? mayForcePush : mayPush)(settings, this.caller);
    if (isAllowed) return undefined;
    const isUnprotected = this.matcherOf(settings.unprotectedFilePatterns);
    if (isUnprotected) {
      const isOther = (each: ByteText): boolean => !isUnprotected(each, this.budget);
      const other = await this.findChanged(before, tip, newCommits, isOther);
      if (other === undefined) return undefined;
    }
    return { kind: isForced ? "force-pusher" : "pusher" };
  }

  private isForward(before: Node, tip: Node): boolean {
    const { graph } = this.push.repository;
    if (before === tip || graph.parents(tip).includes(before)) return true;
    this.spend(STEPS_PER_WALKED * graph.count);
    return isAncestor(graph, before, tip);
  }

  /** The matcher of a list, parsed once for the push. */
  private matcherOf(list: string): MatchesPath | undefined {
    if (!this.matchers.has(list)) this.matchers.set(list, pathMatcherOf(list));
    return this.matchers.get(list);
  }

  /** The tips of branches and tags before the push. Anyone may have created other refs. */
  private findKnown(graph: CommitGraph): Node[] {
    return this.push.reachable.refs
      .filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name))
      .map(({ oid, peeledOid }) => graph.find(peeledOid ?? oid));
  }

  /** Finds a commit without a verified signature. */
  private async findUnverified(nodes: ReadonlySet<Node>): Promise<Oid | undefined> {
    const { graph, objects } = this.push.repository;
    const within = objects.within(this.budget);
    const all = [...nodes];
    for (let at = 0; at < all.length; at += COMMITS_AT_ONCE) {
      const some = all.slice(at, at + COMMITS_AT_ONCE);
      this.spend(STEPS_PER_SIGNATURE * some.length);
      const signables = [];
      for (const node of some) {
        const commitOid = graph.oid(node);
        const stored = await within.readObject(commitOid);
        if (!stored) throw new Error(`commit ${commitOid} of a push is not stored`);
        const { email } = parseCommit(stored.content).committer;
        signables.push({ commitOid, email, split: splitSignature(stored.content) });
      }
      const verified = await verifySignatures(this.ctx, signables);
      const first = verified.find(({ verification }) => !verification.isVerified);
      if (first) return first.commitOid;
    }
    return undefined;
  }

  /**
   * Finds a path that an update changes: between the two commits of an existing branch; for a new
   * one in a commit that it brings, compared with each of its parents.
   */
  private async findChanged(
    before: Node | undefined,
    tip: Node,
    newCommits: () => ReadonlySet<Node>,
    isFound: (path: ByteText) => boolean,
  ): Promise<ByteText | undefined> {
    const { graph, objects } = this.push.repository;
    const within = objects.within(this.budget);
    const treeOf = (node: Node): Promise<Oid | undefined> => resident(() => graph.rootOid(node));
    const compare = async (from: Node | undefined, to: Node): Promise<ByteText | undefined> => {
      const fromOid = from === undefined || from === NO_NODE ? undefined : await treeOf(from);
      return findChangedPath(within, fromOid, await treeOf(to), isFound, this.budget);
    };
    if (before !== undefined) return compare(before, tip);
    for (const node of newCommits()) {
      this.spend(STEPS_PER_COMMIT);
      const parents: (Node | undefined)[] = [...graph.parents(node)];
      let path: ByteText | undefined;
      for (const parent of parents.length === 0 ? [undefined] : parents) {
        path = await compare(parent, node);
        // A merge changes only the paths that differ from all of its parents.
        if (path === undefined) break;
      }
      if (path !== undefined) return path;
    }
    return undefined;
  }

  private spend(steps: number): void {
    this.budget.consume(steps);
    if (this.budget.isExhausted) throw overLimit("too many commits");
  }
}
