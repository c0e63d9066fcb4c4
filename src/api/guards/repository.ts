import type { Scope } from "../../auth/scope.ts";
import { ACCESS, type Access, type User } from "../../db/schema/index.ts";
import {
  enterNetwork,
  enterRepository,
  type RelativeName,
  type RequestContext,
  type RepositoryTarget,
} from "../../entrance/enter-repository.ts";
import { forbidden } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { guard, incoming, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { renamedPath } from "./renamed-path.ts";

/** What a repository guard may ask for beyond seeing it. */
interface RepositoryRule {
  /** The least the caller must be allowed to do; reading, where it says nothing. */
  access?: Access;
}

/** For those who may see the repository of the path and do there what `rule` asks. */
export function inRepo(
  scopes: Scope | readonly Scope[],
  rule: RepositoryRule = {},
): Guard<{ entry: RepositoryEntry }> {
  const all = [scopes].flat();
  const access = rule.access ?? ACCESS.read;
  return guard(all, access === ACCESS.read, async (c) => {
    const context = await enterRepository(incoming(c), targetOf(c, all));
    requireAccess(context, access);
    return context;
  });
}

/**
 * The same for reading, with those repositories of its network that the path names too and the caller
 * may see.
 */
export function inNetwork(
  scope: Scope,
  nameOf: (c: GuardContext) => RelativeName | undefined,
): Guard<{ entry: RepositoryEntry; relatives: RepositoryEntry[] }> {
  return guard([scope], true, async (c) => {
    const target = targetOf(c, [scope]);
    const relative = nameOf(c);
    return relative
      ? enterNetwork(incoming(c), target, relative)
      : { ...(await enterRepository(incoming(c), target)), relatives: [] };
  });
}

/** For people who are signed in and may see the repository: where the route is about both. */
export function signedInRepo(...scopes: Scope[]): Guard<{ entry: RepositoryEntry; user: User }> {
  return guard(scopes, false, async (c) => {
    const context = await enterRepository(incoming(c), targetOf(c, scopes));
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
    pathAt: (renamed) => renamedPath(c, { owner: renamed.owner.name, repo: renamed.repo.name }),
  };
}

function requireAccess({ ctx, entry }: RequestContext, access: Access): void {
  if (access > ACCESS.read) requireUser(ctx.actor);
  if (entry.access < access) throw forbidden(REFUSALS[access]);
}

const REFUSALS: Record<Access, string> = {
  [ACCESS.none]: "",
  [ACCESS.read]: "",
  [ACCESS.write]: "user should have a permission to write to a repo",
  [ACCESS.admin]: "user should be a repo admin or a site admin",
  [ACCESS.owner]: "user should be the owner of the repo",
};
