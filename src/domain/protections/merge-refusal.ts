import { isAllowed } from "../../auth/access/permission.ts";
import type { Ctx } from "../../context.ts";
import type { BranchProtection, CommitState, ReviewState } from "../../db/schema/index.ts";
import type { ByteText } from "../../git/byte-text.ts";
import { findChangedPath } from "../../git/diff/find-changed-path.ts";
import { GitError } from "../../git/error.ts";
import { NO_NODE } from "../../git/walk/commit-graph.ts";
import { StepBudget } from "../../lib/step-budget.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { rulesOfBranch } from "./match-rule.ts";
import { CONTEXTS_MAX, loadMergeFacts, type MergeFacts } from "./merge-facts.ts";
import { callerOf, mayMerge } from "./permitted.ts";
import { matchesPattern, pathMatcherOf } from "./rule-patterns.ts";

/** Steps to compare contexts and paths with patterns: about a second of processor time. */
const STEPS_MAX = 100_000_000;

/** How a pull request is to be merged. */
export interface MergeAttempt {
  /** Whether the caller wants to merge although conditions are not met. */
  readonly isForced: boolean;
  /** The repository of the base, where it is open already. */
  readonly repository?: OpenRepository | undefined;
  /** What is known of the pull request, where it is loaded already. */
  readonly facts?: MergeFacts | undefined;
}

/**
 * Finds the first condition of the rules for its base that a pull request does not meet, in Gitea's words and order;
 * undefined if the caller may merge it.
 *
 * A merge may be forced by administrators of the repository, unless the rule blocks that; a list of those who merge
 * holds for them too. Whether the branch is outdated, and its merge base, are as of the latest judgement.
 *
 * Cost: what `loadMergeFacts` costs. With protected files the repository of the base is opened, and the trees above
 * the changed files are read.
 */
export async function findMergeRefusal(
  ctx: Ctx,
  pull: PullContext,
  { isForced, repository, facts: loaded }: MergeAttempt,
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
  const budget = new StepBudget(STEPS_MAX, {
    onSteps: (steps) => void (ctx.git.usage.steps += steps),
  });
  for (const { settings } of rules) {
    if (mayForce && !settings.blockAdminMergeOverride) continue;
    const refusal =
      findUnmet(settings, facts, pull, budget) ??
      (await findProtected(ctx, pull, settings, budget, repository));
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function findUnmet(
  settings: BranchProtection["settings"],
  facts: MergeFacts,
  { pull }: PullContext,
  budget: StepBudget,
): string | undefined {
  const count = (
    state: ReviewState,
    isCounted: (each: { isStale: boolean }) => boolean = () => true,
  ): number =>
    facts.reviews
      .filter((each) => each.state === state && isCounted(each))
      .reduce((sum, each) => sum + each.count, 0);
  if (settings.isStatusCheckEnabled && !areChecksDone(settings, facts, budget)) {
    return "Not all required status checks successful";
  }
  const approvals = count("approved", ({ isStale }) => !(isStale && settings.ignoreStaleApprovals));
  if (approvals < settings.requiredApprovals) return "Does not have enough approvals";
  if (settings.blockOnRejectedReviews && count("request_changes") > 0) {
    return "There are requested changes";
  }
  if (settings.blockOnOfficialReviewRequests && count("request_review") > 0) {
    return "There are official review requests";
  }
  if (settings.blockOnOutdatedBranch && pull.behindCount > 0) {
    return "The head branch is behind the base branch";
  }
  return undefined;
}

/** Whether each required pattern matches a status and all that match succeeded; without patterns whether all did. */
function areChecksDone(
  { statusContexts }: BranchProtection["settings"],
  { statuses }: MergeFacts,
  budget: StepBudget,
): boolean {
  if (statuses.length === 0 || statuses.length > CONTEXTS_MAX) return false;
  const isDone = (some: MergeFacts["statuses"]): boolean =>
    some.length > 0 && some.every(({ state }) => !UNFINISHED.has(state));
  if (statusContexts.length === 0) return isDone(statuses);
  return statusContexts.every((pattern) => {
    if (budget.isExhausted) return false;
    return isDone(statuses.filter(({ context }) => matchesPattern(pattern, context, budget)));
  });
}

const UNFINISHED: ReadonlySet<CommitState> = new Set(["pending", "error", "failure"]);

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
    return node === NO_NODE ? undefined : graph.rootOid(node);
  };
  try {
    const path = await findChangedPath(
      objects.within(budget),
      rootOf(pull.mergeBaseOid),
      rootOf(pull.headOid),
      (changed: ByteText) => isProtected(changed, budget),
      budget,
    );
    return path === undefined ? undefined : CHANGED_PROTECTED;
  } catch (error) {
    // Too much to compare counts as changed: nobody has shown that it is not.
    if (error instanceof GitError && error.code === "limit") return CHANGED_PROTECTED;
    throw error;
  }
}

const CHANGED_PROTECTED = "Changed protected files";

async function openBase(ctx: Ctx, row: PullContext["repo"]["row"]): Promise<OpenRepository> {
  const stored = ctx.git.repository(row);
  return stored.open(await stored.snapshot());
}
