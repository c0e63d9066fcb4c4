import type { Ctx } from "../../../context.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { isRuleFor, readCodeOwnerRules, teamsOf } from "./code-owner-rules.ts";

/** Steps to compare the paths of a page with patterns: some 0.1 s of processor time. */
const STEPS_MAX = 10_000_000;

/**
 * Lists the owners of files by the rules of a commit, as these name them: users, and teams as
 * `org/team`. Files without owners are left out, and all from where the budget is exhausted.
 *
 * Cost: one file of the repository.
 */
export async function listOwnersOfFiles(
  ctx: Ctx,
  repo: RepositoryContext,
  repository: OpenRepository,
  commitOid: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const budget = ctx.git.openBudget(STEPS_MAX);
  const rules = paths.length === 0 ? [] : await readCodeOwnerRules(repository, commitOid, budget);
  const owners = new Map<string, readonly string[]>();
  if (rules.length === 0) return owners;
  const { name, lowerName } = repo.owner;
  for (const path of paths) {
    const matching = rules.filter((each) => isRuleFor(each, path, budget));
    if (budget.isExhausted) break;
    const names = matching.flatMap(({ rule }) =>
      rule.users.concat(teamsOf(rule, lowerName).map((team) => `${name}/${team}`)),
    );
    if (names.length > 0) owners.set(path, [...new Set(names)]);
  }
  return owners;
}
