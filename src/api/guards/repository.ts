import type { Scope } from "../../auth/scope.ts";
import { ACCESS, type Access, type User } from "../../db/schema/index.ts";
import {
  findRenamed,
  isNamed,
  isNamedOrRelated,
  selectRepositories,
  toEntry,
  type RepositoryRow,
} from "../../domain/repos/find-repository.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { enter, guard, requireUser, type Guard, type GuardContext } from "./guard.ts";
import { Moved } from "./moved.ts";

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
  const isOpen = (rule.access ?? ACCESS.read) === ACCESS.read;
  return guard(all, isOpen, async (c) => ({
    entry: await enterRepository(c, all, rule.access ?? ACCESS.read),
  }));
}

/** A repository as a path names it beside its own: by its owner, or by both names. */
export interface RelativeName {
  owner: string;
  repo: string | undefined;
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
    const relatives = (rows ?? [])
      .filter(({ owner: { lowerName } }) => lowerName === relative?.owner.toLowerCase())
      .filter(
        ({ repo }) =>
          relative?.repo === undefined || repo.lowerName === relative.repo.toLowerCase(),
      )
      .map((row) => toEntry(c.var.ctx.actor, row))
      .filter(({ access }) => access !== ACCESS.none);
    return { entry, relatives };
  });
}

/** For people who are signed in and may see the repository: where the route is about both. */
export function signedInRepo(...scopes: Scope[]): Guard<{ entry: RepositoryEntry; user: User }> {
  return guard(scopes, false, async (c) => {
    const entry = await enterRepository(c, scopes, ACCESS.read);
    return { entry, user: requireUser(c.var.ctx.actor) };
  });
}

async function enterRepository(
  c: GuardContext,
  scopes: readonly Scope[],
  access: Access,
): Promise<RepositoryEntry> {
  const { owner = "", repo: name = "" } = c.req.param();
  const rows = await enter(c, scopes, (who) =>
    selectRepositories(c.var.open.db, who).where(isNamed(owner, name)),
  );
  const entry = await findEntry(c, rows?.[0], owner, name);
  if (access > ACCESS.read) requireUser(c.var.ctx.actor);
  if (entry.access < access) throw forbidden(REFUSALS[access]);
  return entry;
}

const REFUSALS: Record<Access, string> = {
  [ACCESS.none]: "",
  [ACCESS.read]: "",
  [ACCESS.write]: "user should have a permission to write to a repo",
  [ACCESS.admin]: "user should be a repo admin or a site admin",
  [ACCESS.owner]: "user should be the owner of the repo",
};

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
    if (entry.access === ACCESS.none) throw notFound();
    return entry;
  }
  const moved = await findRenamed(ctx, owner, name);
  if (!moved) throw notFound();
  throw new Moved(c, { owner: moved.owner.name, repo: moved.repo.name }, 301);
}
