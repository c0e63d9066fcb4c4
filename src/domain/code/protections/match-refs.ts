import type { Ctx } from "../../../context.ts";
import type { BranchProtection } from "../../../db/schema/index.ts";
import { StepBudget } from "../../../lib/step-budget.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import { matchRule } from "./match-rule.ts";
import { TagRule } from "./tag-rule.ts";

/** Steps to compare the names of a page: a tenth of a second of processor time. */
const STEPS_MAX = 10_000_000;

/** The names that rules are about now, by the ids of the rules. */
export interface MatchedNames {
  readonly byRule: ReadonlyMap<number, readonly string[]>;
  /** Whether all names were compared. */
  readonly isWhole: boolean;
}

/** The branches to which each rule of a list applies: of several that match, one does. */
export function matchBranches(
  { git }: Ctx,
  rules: readonly BranchProtection[],
  branches: readonly string[],
): MatchedNames {
  const budget = new StepBudget(STEPS_MAX, {
    onSteps: (steps) => void (git.usage.steps += steps),
  });
  const byRule = new Map<number, string[]>();
  for (const branch of branches) {
    if (budget.isExhausted) return { byRule, isWhole: false };
    const rule = matchRule(rules, branch, budget);
    if (!rule) continue;
    const matching = byRule.get(rule.id);
    if (matching) matching.push(branch);
    else byRule.set(rule.id, [branch]);
  }
  return { byRule, isWhole: true };
}

/** The tags that each rule for tags of a repository is about. */
export async function matchTags(
  ctx: Ctx,
  rules: RepositoryRules,
  tags: readonly string[],
): Promise<MatchedNames> {
  const comparison = new TagRule(ctx, rules, STEPS_MAX);
  const byRule = new Map<number, string[]>();
  for (const rule of rules.tags) {
    const matching = [];
    for (const tag of tags) {
      if (comparison.isExhausted) return { byRule, isWhole: false };
      if (await comparison.matches(rule, tag)) matching.push(tag);
    }
    byRule.set(rule.id, matching);
  }
  return { byRule, isWhole: true };
}
