import { requireAccess } from "../../auth/access/require-access.ts";
import { TO_SEE, type Requirement } from "../../auth/access/requirement.ts";
import type { Scope } from "../../auth/scope.ts";
import type { User } from "../../db/schema/index.ts";
import {
  enterNetwork,
  enterRepository,
  type RelativeName,
  type RequestContext,
  type RepositoryTarget,
} from "../../entrance/enter-repository.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { guard, incoming, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { renamedPath } from "./renamed-path.ts";

/** For callers who may see the repository of the path and have the required mode there. */
export function inRepo(
  scopes: Scope | readonly Scope[],
  requirement: Requirement = TO_SEE,
): Guard<{ repo: RepositoryContext }> {
  const all = [scopes].flat();
  return guard(all, requirement.mode === "read", async (c) => {
    const context = await enterRepository(incoming(c), targetOf(c, all));
    refuseLess(context, requirement);
    return context;
  });
}

/**
 * The same, with the repositories of its network that the path names too and the caller may see.
 */
export function inNetwork(
  scope: Scope,
  requirement: Requirement,
  nameOf: (c: GuardContext) => RelativeName | undefined,
): Guard<{ repo: RepositoryContext; relatives: RepositoryContext[] }> {
  return guard([scope], requirement.mode === "read", async (c) => {
    const target = targetOf(c, [scope]);
    const relative = nameOf(c);
    const context = relative
      ? await enterNetwork(incoming(c), target, relative)
      : { ...(await enterRepository(incoming(c), target)), relatives: [] };
    refuseLess(context, requirement);
    return context;
  });
}

/** The same for signed-in callers, where the route is about the repository and the caller. */
export function signedInRepo(
  scopes: Scope | readonly Scope[],
  requirement: Requirement = TO_SEE,
): Guard<{ repo: RepositoryContext; user: User }> {
  const all = [scopes].flat();
  return guard(all, false, async (c) => {
    const context = await enterRepository(incoming(c), targetOf(c, all));
    refuseLess(context, requirement);
    return { ...context, user: requireUser(context.ctx.actor) };
  });
}

/** The repository of the path. A repository is sought before its caller must be signed in. */
function targetOf(c: GuardContext, scopes: readonly Scope[]): RepositoryTarget {
  const { owner = "", repo: name = "" } = c.req.param();
  return {
    owner,
    name,
    scopes,
    anonymous: "by-setting",
    pathAt: (renamed) => renamedPath(c, { owner: renamed.owner.name, repo: renamed.row.name }),
  };
}

/** Refuses a caller with less than the required mode; asks anonymous callers to sign in before a write. */
function refuseLess({ ctx, repo }: RequestContext, requirement: Requirement): void {
  if (requirement.mode !== "read") requireUser(ctx.actor);
  requireAccess(repo, requirement);
}
