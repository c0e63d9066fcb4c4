import type { CallerArgument } from "../auth/caller-sql.ts";
import type { Database } from "../db/db.ts";
import { selectRulesByName } from "../domain/protections/select-rules.ts";
import { requirePull, selectPullByName, toOnePull } from "../domain/pulls/find-pull.ts";
import { selectRepositoryNamed } from "../domain/repos/find-repository.ts";
import type { PullContext } from "../shapes/pulls/pull-request.ts";
import { authenticate } from "./authenticate.ts";
import type { IncomingRequest } from "./door.ts";
import {
  findPermitted,
  needsRules,
  type RepositoryTarget,
  type RequestContext,
  withRules,
} from "./enter-repository.ts";

/**
 * Authenticates a request and resolves the repository and the pull request that it names, in one round trip.
 *
 * @throws Failure and Moved as `enterRepository`; then `not_found` for a number that no pull request has, and where the
 * caller may not see the unit.
 */
export async function enterPull(
  incoming: IncomingRequest,
  target: RepositoryTarget,
  number: number,
): Promise<RequestContext & { pull: PullContext }> {
  const { directory } = incoming.base;
  const select = (db: Database, caller: CallerArgument) => {
    const rules = needsRules(target) ? [selectRulesByName(db, target, caller)] : [];
    return [...selectPullByName(db, caller, target, number), ...rules] as const;
  };
  const entered = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoryNamed(directory, caller, target),
    (caller) => select(directory, caller),
  );
  const [row] = entered.target ?? [];
  // SECURITY: before anything is said about the pull request, which came with a repository that may be hidden.
  const {
    ctx,
    repo: found,
    own,
  } = await findPermitted(incoming, entered.ctx, target, row, { loaded: entered.more, select });
  const [pulls = [], heads = [], rules] = own ?? [];
  const repo = rules ? withRules(found, rules) : found;
  return { ctx, repo, pull: requirePull(repo, toOnePull(ctx, repo, pulls, heads)) };
}
