import type { BranchProtection } from "../../../db/schema/index.ts";
import { type Budget, UNLIMITED } from "../../../git/budget.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import { isExactName, matchesBranch } from "./rule-patterns.ts";

/** Steps to compare the name of a rule with that of a branch. */
const STEPS_PER_RULE = 20;

/**
 * The one rule of a list that applies to a branch; undefined if none matches.
 *
 * The rule with the lowest priority applies. Only where nobody chose priorities, an exact name
 * precedes a pattern: the contract has exact names first, and rules get their priorities in the
 * order in which they are made.
 *
 * @param rules Of one repository, or of one organization.
 */
export function matchRule(
  rules: readonly BranchProtection[],
  branch: string,
  budget: Budget = UNLIMITED,
): BranchProtection | undefined {
  budget.consume(STEPS_PER_RULE * rules.length);
  const matching = rules.filter(({ name }) => matchesBranch(name, branch, budget));
  const [first] = matching.toSorted(byPriority);
  if (!first || first.isPriorityExplicit) return first;
  const exact = matching.filter((rule) => isExactName(rule.name) && !rule.isPriorityExplicit);
  return exact.toSorted(byPriority)[0] ?? first;
}

/** The order in which rules apply and are listed. */
const byPriority = (a: BranchProtection, b: BranchProtection): number =>
  a.priority - b.priority ||
  Number(isExactName(b.name)) - Number(isExactName(a.name)) ||
  a.id - b.id;

/**
 * The rules that a branch is under: the repository's own, then its organization's, at most one of
 * each. What one of them does not allow is not allowed.
 */
export function rulesOfBranch(
  rules: RepositoryRules,
  branch: string,
  budget: Budget = UNLIMITED,
): BranchProtection[] {
  return [rules.branches, rules.rulesets].flatMap(
    (level) => matchRule(level, branch, budget) ?? [],
  );
}
