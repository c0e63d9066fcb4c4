import { isAllowed } from "../../../auth/access/permission.ts";
import type { MergeKind } from "../../../db/schema/index.ts";
import { Failure, notApplicable, notFound } from "../../../lib/failure.ts";
import { isDraftTitle } from "../../../shapes/issues/issue.ts";
import { isMergeabilityCurrent, type PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { nameConflicts } from "../../code/commits/name-conflicts.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import type { MergeFacts } from "../../code/protections/merge-facts.ts";

/** Within which a pull request usually follows a push. */
const RETRY_SECONDS = 1;

export const alreadyMerged = () => notApplicable("The PR is already merged");

/**
 * Refuses callers who may not merge a pull request, and one that is closed.
 *
 * @throws Failure `locked` in an archived repository; `not_applicable` for a merged one, and for
 * callers who may not write to the code; `not_found` for one that is closed without a merge.
 */
export function requireMerger({ repo, row, pull }: PullContext): void {
  requireNotArchived(repo);
  if (pull.mergedAt !== null) throw alreadyMerged();
  if (row.isClosed) throw notFound("the pull request is closed");
  if (!isAllowed(repo, { unit: "code", mode: "write" })) {
    throw notApplicable("User not allowed to merge PR");
  }
}

/** Whether a repository allows a style. */
export function isStyleAllowed(repo: RepositoryContext, kind: MergeKind): boolean {
  const { pullSettings } = repo.row;
  const allowed: Record<MergeKind, boolean> = {
    merge: pullSettings.allowMergeCommits,
    rebase: pullSettings.allowRebase,
    "rebase-merge": pullSettings.allowRebaseExplicit,
    squash: pullSettings.allowSquashMerge,
    "fast-forward-only": pullSettings.allowFastForwardOnlyMerge,
    "manually-merged": pullSettings.allowManualMerge,
  };
  return allowed[kind];
}

/**
 * Refuses a style that the repository does not allow.
 *
 * @throws Failure `not_applicable`, in Gitea's words.
 */
export function requireStyle(repo: RepositoryContext, kind: MergeKind): void {
  if (isStyleAllowed(repo, kind)) return;
  throw notApplicable(`${kind} is not allowed an allowed merge style for this repository`);
}

/**
 * Refuses a pull request that nobody can merge now: a draft, one with known conflicts or without
 * a change, and one that waits for others.
 *
 * @throws Failure `not_applicable`.
 */
export function requireReady(context: PullContext, facts: MergeFacts): void {
  const { row, pull } = context;
  if (isDraftTitle(row.title)) throw notApplicable("Work in progress PRs cannot be merged");
  if (isMergeabilityCurrent(context)) {
    if (pull.mergeState === "conflict") throw notApplicable(nameConflicts(pull.conflictPaths));
    if (pull.mergeState === "ancestor") throw notApplicable(NOTHING_TO_MERGE);
  }
  requireUnblocked(facts);
}

/**
 * Refuses a pull request that waits for others.
 *
 * @throws Failure `not_applicable`.
 */
export function requireUnblocked({ isBlocked }: Pick<MergeFacts, "isBlocked">): void {
  if (isBlocked) throw notApplicable("the pull request still has open dependencies");
}

/** The refusal while a pull request follows a push to its head. */
export const notYetMergeable = (): Failure =>
  new Failure("not_applicable", "Please try again later", {}, RETRY_SECONDS);

/** The refusal for a head that the base reaches, or that brings nothing new. */
export const NOTHING_TO_MERGE = "Please try again later: the base has everything already";

/** The refusal to merge a head that has no commit in common with the base; a rebase replays it. */
export const UNRELATED_HISTORIES = "refusing to merge unrelated histories";
