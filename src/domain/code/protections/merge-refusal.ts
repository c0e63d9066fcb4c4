import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import type { BranchProtection, ReviewState } from "../../../db/schema/index.ts";
import type { ByteText } from "../../../git/byte-text.ts";
import { findChangedPath } from "../../../git/diff/find-changed-path.ts";
import { GitError } from "../../../git/error.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { StepBudget } from "../../../lib/step-budget.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { rulesOfBranch } from "./match-rule.ts";
import { loadMergeFacts, type MergeFacts } from "./merge-facts.ts";
import { callerOf, mayMerge } from "./permitted.ts";
import { evaluateChecks, listRequiredChecks, type RequiredChecks } from "./evaluate-checks.ts";
import { pathMatcherOf } from "./rule-patterns.ts";

/** Steps to compare contexts and paths with patterns: about a second of processor time. */
const STEPS_MAX = 100_000_000;

/** How a pull request is to be merged. */
export interface MergeAttempt {
  /** Whether the caller wants to merge although conditions are not met. */
  readonly isForced: boolean;
  /** The repository of the base, where it is open already. */
  readonly repository?: OpenRepository | undefined;
  /** The facts of the pull request, if they are loaded already. */
  readonly facts?: MergeFacts | undefined;
  /** Undefined for a merge that does not go through the merge queue of the base. */
  readonly queue?: QueuedAttempt | undefined;
}

/**
 * A merge by the merge queue of the base, which tests its result: the head may be behind the base.
 */
interface QueuedAttempt {
  /** Whether the checks of the head are asked, too. */
  readonly asksChecks: boolean;
}

/** The refusal of a merge that does not go through the merge queue of the base. */
export const MERGE_QUEUE_REQUIRED =
  "The base has a merge queue: the pull request is merged by the queue";

/**
 * Finds the first condition of the rules for its base that a pull request does not meet, in Gitea's
 * words and order; undefined if the caller may merge it.
 *
 * A merge may be forced by administrators of the repository, unless the rule blocks that; a list of
 * those who merge holds for them too. Whether the branch is outdated, and its merge base, are as of
 * the latest check.
 *
 * Cost: what `loadMergeFacts` costs. With protected files the repository of the base is opened, and
 * the trees above the changed files are read.
 */
export async function findMergeRefusal(
  ctx: Ctx,
  pull: PullContext,
  { isForced, repository, facts: loaded, queue }: MergeAttempt,
): Promise<string | undefined> {
  const { repo } = pull;
  const facts = loaded ?? (await loadMergeFacts(ctx, pull));
  const rules = rulesOfBranch(facts.rules, pull.pull.baseBranch, ctx.git.budget);
  const caller = callerOf(ctx, facts.rules);
  const mayWrite = isAllowed(repo, { unit: "code", mode: "write" });
  if (!mayWrite || !rules.every(({ settings }) => mayMerge(settings, caller))) {
    return "User not allowed to merge PR";
  }
  const mayForce = isForced && isAllowed(repo, { mode: "admin" });
  const isBound = ({ blockAdminMergeOverride }: BranchProtection["settings"]): boolean =>
    !mayForce || blockAdminMergeOverride;
  if (!queue && rules.some(({ settings }) => settings.isMergeQueueEnabled && isBound(settings))) {
    return MERGE_QUEUE_REQUIRED;
  }
  const budget = new StepBudget(STEPS_MAX, {
    onSteps: (steps) => void (ctx.git.usage.steps += steps),
  });
  for (const { settings } of rules) {
    if (!isBound(settings)) continue;
    const [refusal = await findProtected(ctx, pull, settings, budget, repository)] = listUnmet(
      settings,
      facts,
      pull,
      { budget, queue },
    );
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** What the rules of its base require of a pull request. */
export interface MergeConditions {
  /** The conditions that it does not meet, each once, but for protected files. */
  readonly unmet: readonly string[];
  /** Approvals that it lacks. */
  readonly approvalsMissing: number;
  readonly required: RequiredChecks;
  /** Whether it is merged by a queue. */
  readonly hasQueue: boolean;
  /** Whether the caller may merge it although conditions are not met, and past the queue. */
  readonly mayForce: boolean;
}

/**
 * Lists what the rules of its base require of a pull request. For a page: a merge asks
 * `findMergeRefusal`.
 */
export function listMergeConditions(
  ctx: Ctx,
  pull: PullContext,
  facts: MergeFacts,
): MergeConditions {
  const budget = new StepBudget(STEPS_MAX, {
    onSteps: (steps) => void (ctx.git.usage.steps += steps),
  });
  const rules = rulesOfBranch(facts.rules, pull.pull.baseBranch, ctx.git.budget);
  const allSettings = rules.map(({ settings }) => settings);
  const hasQueue = allSettings.some(({ isMergeQueueEnabled }) => isMergeQueueEnabled);
  const queue = hasQueue ? { asksChecks: false } : undefined;
  const unmet = allSettings.flatMap((each) => listUnmet(each, facts, pull, { budget, queue }));
  const patterns = allSettings
    .filter(({ isStatusCheckEnabled }) => isStatusCheckEnabled)
    .flatMap(({ statusContexts }) => statusContexts);
  const isOverridable = !allSettings.some((each) => each.blockAdminMergeOverride);
  return {
    unmet: [...new Set(unmet)],
    approvalsMissing: Math.max(
      0,
      ...allSettings.map((each) => each.requiredApprovals - countApprovals(each, facts)),
    ),
    required: listRequiredChecks([...new Set(patterns)], facts.statuses, budget),
    hasQueue,
    mayForce: isOverridable && isAllowed(pull.repo, { mode: "admin" }),
  };
}

/** The condition of approvals, as Gitea words it. */
export const TOO_FEW_APPROVALS = "Does not have enough approvals";

/** The approvals that count for a rule. */
const countApprovals = (
  { ignoreStaleApprovals }: BranchProtection["settings"],
  { reviews }: MergeFacts,
): number =>
  reviews
    .filter(({ state, isStale }) => state === "approved" && !(isStale && ignoreStaleApprovals))
    .reduce((sum, each) => sum + each.count, 0);

function listUnmet(
  settings: BranchProtection["settings"],
  facts: MergeFacts,
  { pull }: PullContext,
  { budget, queue }: Pick<MergeAttempt, "queue"> & { readonly budget: StepBudget },
): string[] {
  const has = (state: ReviewState): boolean =>
    facts.reviews.some((each) => each.state === state && each.count > 0);
  const areChecksAsked = settings.isStatusCheckEnabled && queue?.asksChecks !== false;
  const isUnmet: Readonly<Record<string, boolean>> = {
    "Not all required status checks successful":
      areChecksAsked && evaluateChecks(settings, facts.statuses, budget) !== "success",
    [TOO_FEW_APPROVALS]: countApprovals(settings, facts) < settings.requiredApprovals,
    "There are requested changes": settings.blockOnRejectedReviews && has("request_changes"),
    "There are official review requests":
      settings.blockOnOfficialReviewRequests && has("request_review"),
    "The head branch is behind the base branch":
      settings.blockOnOutdatedBranch && !queue && pull.behindCount > 0,
  };
  return Object.keys(isUnmet).filter((condition) => isUnmet[condition]);
}

/** The refusal of a pull request that changes protected files. */
async function findProtected(
  ctx: Ctx,
  { repo, pull }: PullContext,
  { protectedFilePatterns }: BranchProtection["settings"],
  budget: StepBudget,
  opened: OpenRepository | undefined,
): Promise<string | undefined> {
  const isProtected = pathMatcherOf(protectedFilePatterns);
  if (!isProtected) return undefined;
  const { graph, objects } = opened ?? (await openBase(ctx, repo.row));
  const rootOf = (oid: string) => {
    const node = oid === "" ? NO_NODE : graph.find(oid);
    return node === NO_NODE ? undefined : graph.loadRootOid(node);
  };
  try {
    const path = await findChangedPath(
      objects.within(budget),
      await rootOf(pull.mergeBaseOid),
      await rootOf(pull.headOid),
      (changed: ByteText) => isProtected(changed, budget),
      budget,
    );
    return path === undefined ? undefined : CHANGED_PROTECTED;
  } catch (error) {
    // A comparison that exceeds its limit counts as a change.
    if (error instanceof GitError && error.code === "limit") return CHANGED_PROTECTED;
    throw error;
  }
}

const CHANGED_PROTECTED = "Changed protected files";

async function openBase(ctx: Ctx, row: PullContext["repo"]["row"]): Promise<OpenRepository> {
  const stored = ctx.git.repository(row);
  return stored.openByBlock(await stored.snapshot("none"));
}
