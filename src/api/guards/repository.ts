import { TO_SEE, type Requirement } from "../../auth/access/requirement.ts";
import type { Scope } from "../../auth/scope.ts";
import type { User } from "../../db/schema/index.ts";
import {
  enterNetwork,
  enterRepository,
  type RelativeName,
  type RepositoryTarget,
} from "../../entrance/enter-repository.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { guard, incoming, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { subjectOf } from "./path-subject.ts";
import { renamedPath } from "./renamed-path.ts";

/**
 * Admits callers who may see the repository of the path and have the required permission on it.
 *
 * @param options.showsRules Whether the rules of its branches and tags are loaded with the
 * repository, where the route does not change the code: then they are anyway.
 * @param options.whileMigrating Whether the route may change a repository that is being migrated.
 */
export function inRepo(
  scopes: Scope | readonly Scope[],
  requirement: Requirement = TO_SEE,
  { showsRules, whileMigrating }: { showsRules?: boolean; whileMigrating?: boolean } = {},
): Guard<{ repo: RepositoryContext }> {
  const all = [scopes].flat();
  return guard(all, requirement.mode === "read", (c) =>
    enterRepository(incoming(c), {
      ...targetOf(c, all, requirement),
      showsRules,
      whileMigrating,
    }),
  );
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
    const target = targetOf(c, [scope], requirement);
    const relative = nameOf(c);
    if (relative) return enterNetwork(incoming(c), target, relative);
    return { ...(await enterRepository(incoming(c), target)), relatives: [] };
  });
}

/**
 * The same for signed-in callers, for routes about the repository and the caller.
 *
 * @param parameters The parameters of the path that name the repository.
 * @param options.whileMigrating As above.
 */
export function signedInRepo(
  scopes: Scope | readonly Scope[],
  requirement: Requirement = TO_SEE,
  parameters: RepositoryParameters = OWNER_AND_REPO,
  { whileMigrating }: { whileMigrating?: boolean } = {},
): Guard<{ repo: RepositoryContext; user: User }> {
  const all = [scopes].flat();
  return guard(all, false, async (c) => {
    const target = { ...targetOf(c, all, requirement, parameters), whileMigrating };
    const context = await enterRepository(incoming(c), target);
    return { ...context, user: requireUser(context.ctx.actor) };
  });
}

/** The names of the parameters of a path that name a repository. */
interface RepositoryParameters {
  readonly owner: string;
  readonly repo: string;
}

const OWNER_AND_REPO: RepositoryParameters = { owner: "owner", repo: "repo" };

/** The repository of the path. The lookup comes before the check that the caller is signed in. */
export function targetOf(
  c: GuardContext,
  scopes: readonly Scope[],
  requirement: Requirement,
  parameters: RepositoryParameters = OWNER_AND_REPO,
): RepositoryTarget {
  const values = c.req.param();
  return {
    owner: values[parameters.owner] ?? "",
    name: values[parameters.repo] ?? "",
    scopes,
    anonymous: "by-setting",
    requirement,
    subject: subjectOf(c),
    pathAt: ({ owner, row }) =>
      renamedPath(c, { [parameters.owner]: owner.name, [parameters.repo]: row.name }),
  };
}
