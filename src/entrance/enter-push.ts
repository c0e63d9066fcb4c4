import type { Ctx } from "../context.ts";
import { type AccountRow, selectAccountNamed } from "../domain/people/accounts/find-account.ts";
import { selectRulesByName } from "../domain/code/protections/select-rules.ts";
import { findNamed, selectRepositoriesOfName } from "../domain/repos/repository/find-repository.ts";
import type { RepositoryContext } from "../shapes/repos/repository.ts";
import { authenticate } from "./authenticate.ts";
import type { IncomingRequest } from "./door.ts";
import {
  findPermitted,
  type RepositoryTarget,
  type RequestContext,
  withRules,
} from "./enter-repository.ts";

/** The repository to which a request pushes. */
export interface PushTarget extends RepositoryTarget {
  /**
   * Creates the repository if the request may create it.
   *
   * @param owner The account that has the owner's name.
   */
  create(ctx: Ctx, owner: AccountRow | undefined): Promise<RepositoryContext | undefined>;
}

/**
 * Authenticates a push and resolves the repository that it names, which it creates if there is
 * none.
 *
 * SECURITY: the owner comes in the same round trip. A second one where no repository has the name
 * would reveal, by its time, which names hidden repositories have.
 *
 * @throws Failure and Moved as `enterRepository`.
 */
export async function enterPush(
  incoming: IncomingRequest,
  target: PushTarget,
): Promise<RequestContext> {
  const { db } = incoming.base;
  const {
    ctx,
    target: rows = [],
    more,
  } = await authenticate(
    incoming,
    target,
    (caller) => selectRepositoriesOfName(db, caller, target),
    (caller) =>
      [
        selectRulesByName(db, target, caller),
        selectAccountNamed(db, caller, target.owner),
      ] as const,
  );
  const [rules, [owner] = []] = more ?? [];
  const creating = { ...target, createMissing: () => target.create(ctx, owner) };
  const repo = await findPermitted(incoming, ctx, creating, rows);
  // The rules came by the name: a repository that the request has just created has others.
  return { ctx, repo: rules && findNamed(rows, target) ? withRules(repo, rules) : repo };
}
