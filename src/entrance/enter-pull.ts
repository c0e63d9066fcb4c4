import { selectRulesByName } from "../domain/code/protections/select-rules.ts";
import { requirePull, selectPullByName, toOnePull } from "../domain/pulls/pull/find-pull.ts";
import { selectRepositoriesOfName } from "../domain/repos/repository/find-repository.ts";
import type { PullContext } from "../shapes/pulls/pull-request.ts";
import { authenticate } from "./authenticate.ts";
import type { IncomingRequest } from "./door.ts";
import {
  findPermitted,
  type ForReader,
  needsRules,
  type RepositoryTarget,
  type RequestContext,
  selectForReader,
  toForReader,
  withRules,
} from "./enter-repository.ts";

/**
 * Authenticates a request and resolves the repository and the pull request that it names, in one
 * round trip.
 *
 * @throws Failure and Moved as `enterRepository`; then `not_found` for a number that no pull
 * request has, and where the caller may not see the unit.
 */
export async function enterPull(
  incoming: IncomingRequest,
  target: RepositoryTarget,
  number: number,
): Promise<RequestContext & { pull: PullContext }> {
  const { db } = incoming.base;
  const entered = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoriesOfName(db, caller, target),
    (caller) => {
      const rules = needsRules(target) ? [selectRulesByName(db, target, caller)] : [];
      return [...selectPullByName(db, caller, target, number), ...rules] as const;
    },
  );
  const { ctx, more } = entered;
  // SECURITY: before anything is said about the pull request, which came with a repository that may
  // be hidden.
  const found = await findPermitted(incoming, ctx, target, entered.target);
  const [pulls = [], heads = [], rules] = more ?? [];
  const repo = rules ? withRules(found, rules) : found;
  return { ctx, repo, pull: requirePull(repo, toOnePull(ctx, repo, { rows: pulls, heads })) };
}

/**
 * Like `enterPull`, for a page that shows how the repository relates to its reader; in the same
 * round trip.
 */
export async function enterPullForReader(
  incoming: IncomingRequest,
  target: RepositoryTarget,
  number: number,
): Promise<RequestContext & ForReader & { pull: PullContext }> {
  const { db } = incoming.base;
  const entered = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoriesOfName(db, caller, target),
    (caller) =>
      [
        ...selectPullByName(db, caller, target, number),
        ...selectForReader(db, target)(caller),
      ] as const,
  );
  const { ctx, more } = entered;
  // SECURITY: before anything is said about the pull request, as in `enterPull`.
  const repo = await findPermitted(incoming, ctx, target, entered.target);
  const [pulls = [], heads = [], toggles = [], parents = [], unread = []] = more ?? [];
  const pull = requirePull(repo, toOnePull(ctx, repo, { rows: pulls, heads }));
  return { ctx, repo, pull, ...toForReader(ctx, [toggles, parents, unread]) };
}
