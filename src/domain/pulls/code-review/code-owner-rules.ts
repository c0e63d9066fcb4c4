import { decodeText, readByteText } from "../../../git/byte-text.ts";
import type { StepBudget } from "../../../lib/step-budget.ts";
import type { ShortPattern } from "../../../render/linear-pattern.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import {
  CODE_OWNERS_BYTES_MAX,
  CODE_OWNERS_PATHS,
  type CodeOwnerRule,
  parseCodeOwners,
} from "../reviews/code-owners.ts";
import { findFileAt } from "../reviews/find-file-at.ts";

/** Steps for each state of a pattern and character of a path. */
const STEPS_PER_STATE = 5;

/** A rule with its pattern, which is valid. */
export interface OpenRule {
  readonly rule: CodeOwnerRule;
  readonly pattern: ShortPattern;
}

/** Reads the rules of code owners of a commit; none without a file, or for one too large. */
export async function readCodeOwnerRules(
  repository: OpenRepository,
  commitOid: string,
  budget: StepBudget,
): Promise<OpenRule[]> {
  for (const path of CODE_OWNERS_PATHS) {
    const file = await findFileAt(repository, commitOid, path);
    const found = file && (await repository.catalog.findSized(file.oid));
    if (!found) continue;
    if (found.sizeBytes > CODE_OWNERS_BYTES_MAX) return [];
    const bytes = await repository.objects.within(budget).readAt(found.location);
    // The engine of regular expressions is loaded where there are any.
    const { openShortPattern } = await import("../../../render/linear-pattern.ts");
    return parseCodeOwners(decodeText(readByteText(bytes))).flatMap((rule) => {
      const pattern = openShortPattern(rule.pattern);
      return pattern ? [{ rule, pattern }] : [];
    });
  }
  return [];
}

/** Whether a rule is for a path. False once the budget is exhausted, which the caller checks. */
export function isRuleFor({ rule, pattern }: OpenRule, path: string, budget: StepBudget): boolean {
  budget.consume(STEPS_PER_STATE * pattern.states * path.length);
  return !budget.isExhausted && pattern.matches(path) !== rule.isNegated;
}

/** The teams of a rule that belong to an organization, by their names. */
export const teamsOf = ({ teams }: CodeOwnerRule, lowerOrg: string): string[] =>
  teams.filter(({ org }) => org.toLowerCase() === lowerOrg).map(({ name }) => name);
