import type { BranchProtection, MergeStyle, ProtectionSettings } from "../../../db/schema/index.ts";
import { type Budget, UNLIMITED } from "../../../git/budget.ts";
import type { Oid } from "../../../git/oid.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import { rulesOfBranch } from "./match-rule.ts";

/** The settings of the merge queue of a branch, combined from all rules for the branch. */
export interface MergeQueueRule {
  /** The style of all merges; "" for any. */
  readonly style: MergeStyle | "";
  readonly batchSize: number;
  readonly waitMs: number;
  /** The required checks of each rule; empty if a result needs none. */
  readonly checks: readonly Pick<ProtectionSettings, "statusContexts">[];
}

/**
 * The merge queue of a branch under these rules; undefined if none of them switches it on.
 *
 * If several rules do, the smaller number and the first style apply.
 */
export function mergeQueueOf(rules: readonly BranchProtection[]): MergeQueueRule | undefined {
  const all = rules.map(({ settings }) => settings);
  const queues = all.filter(({ isMergeQueueEnabled }) => isMergeQueueEnabled);
  if (queues.length === 0) return undefined;
  return {
    style: queues.find(({ mergeQueueStyle }) => mergeQueueStyle !== "")?.mergeQueueStyle ?? "",
    batchSize: Math.min(...queues.map(({ mergeQueueBatchSize }) => mergeQueueBatchSize)),
    waitMs: Math.min(...queues.map((each) => each.mergeQueueWaitMinutes)) * 60_000,
    checks: all.filter(({ isStatusCheckEnabled }) => isStatusCheckEnabled),
  };
}

const FOLDER = "queue";

/** Hexadecimal digits of a result in the name of its branch. */
const DIGITS = 12;

/** The branches of the results that the merge queue of a base tests begin with this. */
export const queueBranchPrefix = (base: string): string => `${FOLDER}/${base}/`;

/** The branch of a result. */
export const resultBranchOf = (base: string, resultOid: Oid): string =>
  `${queueBranchPrefix(base)}${resultOid.slice(0, DIGITS)}`;

/**
 * Whether a branch, by the full name of its ref, has the name that it has as a result with this
 * commit.
 */
export const isResultRef = (ref: string, oid: Oid): boolean =>
  ref.startsWith(`refs/heads/${FOLDER}/`) && ref.endsWith(`/${oid.slice(0, DIGITS)}`);

/**
 * Whether only the service writes a branch: it belongs to the merge queue of a base, or stands in
 * the way of its branches.
 *
 * Cost: nothing for other names. Otherwise a comparison with the rules for each part of the name,
 * within the budget.
 */
export function isQueueBranch(
  rules: RepositoryRules,
  branch: string,
  budget: Budget = UNLIMITED,
): boolean {
  const [first, ...parts] = branch.split("/");
  if (first !== FOLDER) return false;
  const all = [...rules.branches, ...rules.rulesets];
  if (!all.some(({ settings }) => settings.isMergeQueueEnabled)) return false;
  if (parts.length === 0) return true;
  return parts.some((_, at) => {
    const base = parts.slice(0, at + 1).join("/");
    return mergeQueueOf(rulesOfBranch(rules, base, budget)) !== undefined;
  });
}
