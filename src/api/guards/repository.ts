import { isAllowed } from "../../auth/access/permission.ts";
import { requireAccess } from "../../auth/access/require-access.ts";
import { TO_SEE, type Requirement } from "../../auth/access/requirement.ts";
import type { Scope } from "../../auth/scope.ts";
import type { User } from "../../db/schema/index.ts";
import {
  findRenamed,
  isNamed,
  isNamedOrRelated,
  selectRepositories,
  toEntry,
  type RepositoryRow,
} from "../../domain/repos/find-repository.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { enter, guard, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { Moved } from "./moved.ts";

/** For those who may see the repository of the path and have there what is required. */
export function inRepo(
  scopes: Scope | readonly Scope[],
  requirement: Requirement = TO_SEE,
): Guard<{ entry: RepositoryEntry }> {
  const all = [scopes].flat();
  return guard(all, requirement.mode === "read", async (c) => ({
    entry: await enterRepository(c, all, requirement),
  }));
}

/** A repository as a path names it beside its own: by its owner, or by both names. */
export interface RelativeName {
  owner: string;
  repo: string | undefined;
}

/**
 * The same, with those repositories of its network that the path names too and of which the caller may
 * see that they exist.
 */
export function inNetwork(
  scope: Scope,
  requirement: Requirement,
  nameOf: (c: GuardContext) => RelativeName | undefined,
): Guard<{ entry: RepositoryEntry; relatives: RepositoryEntry[] }> {
  return guard([scope], requirement.mode === "read", async (c) => {
    const { owner = "", repo: name = "" } = c.req.param();
    const relative = nameOf(c);
    const rows = await enter(c, [scope], (who) =>
      selectRepositories(c.var.open.db, who).where(
        relative ? isNamedOrRelated(owner, name, relative) : isNamed(owner, name),
      ),
    );
    const isOwn = (row: RepositoryRow): boolean =>
      row.owner.lowerName === owner.toLowerCase() && row.repo.lowerName === name.toLowerCase();
    const entry = await findEntry(c, rows?.find(isOwn), owner, name);
    refuseLess(c, entry, requirement);
    const relatives = (rows ?? [])
      .filter(({ owner: { lowerName } }) => lowerName === relative?.owner.toLowerCase())
      .filter(
        ({ repo }) =>
          relative?.repo === undefined || repo.lowerName === relative.repo.toLowerCase(),
      )
      .map((row) => toEntry(c.var.ctx.actor, row))
      .filter((each) => isAllowed(each, TO_SEE));
    return { entry, relatives };
  });
}

/** The same for people who are signed in: where the route is about the repository and about them. */
export function signedInRepo(
  scopes: Scope | readonly Scope[],
  requirement: Requirement = TO_SEE,
): Guard<{ entry: RepositoryEntry; user: User }> {
  const all = [scopes].flat();
  return guard(all, false, async (c) => {
    const entry = await enterRepository(c, all, requirement);
    return { entry, user: requireUser(c.var.ctx.actor) };
  });
}

async function enterRepository(
  c: GuardContext,
  scopes: readonly Scope[],
  requirement: Requirement,
): Promise<RepositoryEntry> {
  const { owner = "", repo: name = "" } = c.req.param();
  const rows = await enter(c, scopes, (who) =>
    selectRepositories(c.var.open.db, who).where(isNamed(owner, name)),
  );
  const entry = await findEntry(c, rows?.[0], owner, name);
  refuseLess(c, entry, requirement);
  return entry;
}

/** Refuses whoever has less than is required; strangers are asked to sign in before they may change anything. */
function refuseLess(c: GuardContext, entry: RepositoryEntry, requirement: Requirement): void {
  if (requirement.mode !== "read") requireUser(c.var.ctx.actor);
  requireAccess(entry, requirement);
}

/**
 * The repository of the path, or a way to where it went.
 *
 * SECURITY: a redirect is given to those only who may see its target; else it would tell that the
 * target exists.
 */
async function findEntry(
  c: GuardContext,
  row: RepositoryRow | undefined,
  owner: string,
  name: string,
): Promise<RepositoryEntry> {
  const { ctx } = c.var;
  if (row) {
    const entry = toEntry(ctx.actor, row);
    if (!isAllowed(entry, TO_SEE)) throw notFound();
    return entry;
  }
  const moved = await findRenamed(ctx, owner, name);
  if (!moved) throw notFound();
  throw new Moved(c, { owner: moved.owner.name, repo: moved.repo.name }, 301);
}
