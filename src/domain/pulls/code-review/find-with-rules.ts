import type { Ctx } from "../../../context.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { loadRules } from "../../code/protections/select-rules.ts";
import { findPull } from "../pull/find-pull.ts";

/**
 * Finds a pull request of a repository, with the rules that may protect its base. They decide which
 * reviews count.
 *
 * Cost: one round trip.
 *
 * @throws Failure as `findPull`.
 */
export async function findPullWithRules(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
): Promise<PullContext> {
  const [pull, rules] = await Promise.all([findPull(ctx, repo, number), loadRules(ctx, repo)]);
  return { ...pull, repo: { ...pull.repo, rules } };
}
