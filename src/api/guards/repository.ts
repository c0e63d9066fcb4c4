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

/** Admits callers who may see the repository of the path and have the required permission on it. */
export function inRepo(
  scopes: Scope | readonly Scope[],
  requirement: Requirement = TO_SEE,
): Guard<{ repo: RepositoryContext }> {
  const all = [scopes].flat();
  return guard(all, requirement.mode === "read", async (c) => {
    const context = await enterRepository(incoming(c), targetOf(c, all));
    checkPermission(context, requirement);
    return context;
  });
}

/**
 * The same, and finds the visible repositories of its network that the path names as well.
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
    checkPermission(context, requirement);
    return context;
  });
}

/** The same for signed-in callers, for routes about the repository and the caller. */
export function signedInRepo(
  scopes: Scope | readonly Scope[],
  requirement: Requirement = TO_SEE,
): Guard<{ repo: RepositoryContext; user: User }> {
  const all = [scopes].flat();
  return guard(all, false, async (c) => {
    const context = await enterRepository(incoming(c), targetOf(c, all));
    checkPermission(context, requirement);
    return { ...context, user: requireUser(context.ctx.actor) };
  });
}

/** The repository of the path. The lookup comes before the check that the caller is signed in. */
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

/** Refuses a caller without the required permission; an anonymous caller of a write must sign in. */
function checkPermission({ ctx, repo }: RequestContext, requirement: Requirement): void {
  if (requirement.mode !== "read") requireUser(ctx.actor);
  requireAccess(repo, requirement);
}
