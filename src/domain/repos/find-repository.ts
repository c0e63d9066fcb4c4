import { eq, sql, type SQL } from "drizzle-orm";

import { accessFacts, type AccessFacts } from "../../auth/access/facts.ts";
import { isAllowed, resolvePermission } from "../../auth/access/permission.ts";
import { TO_SEE } from "../../auth/access/requirement.ts";
import type { Actor } from "../../auth/actor.ts";

import {
  callerArgument,
  type CallerArgument,
  type CallerSql,
  toCallerSql,
} from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { allOf, columnsOf, type Database } from "../../db/db.ts";
import { lowered } from "../../db/ids-of-names.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import {
  repositories,
  repositoryRedirects,
  userRedirects,
  users,
  type Repository,
  type User,
} from "../../db/schema/index.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/** A repository as loaded by a query, before the caller's permission is resolved. */
export interface RepositoryRow extends AccessFacts {
  repo: Repository;
  owner: User;
}

/**
 * Selects repositories with their owners and the facts for resolving access; one query, any number of rows.
 */
export function selectRepositories(db: Database, caller: CallerSql) {
  return db
    .select({
      repo: columnsOf(repositories, "r"),
      owner: columnsOf(users, "o"),
      ...accessFacts(caller),
    })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .$dynamic();
}

/** Resolves the caller's permission; every query for repositories converts its rows by this function. */
export function toRepositoryContext(actor: Actor, row: RepositoryRow): RepositoryContext {
  const { repo, owner, pendingTransferTo } = row;
  return { row: repo, owner, permission: resolvePermission(actor, repo, row), pendingTransferTo };
}

/** Repositories by their ids, of the rows of a query, with the caller's permissions. */
export const toRepositoriesById = (
  actor: Actor,
  rows: readonly RepositoryRow[],
): ReadonlyMap<number, RepositoryContext> =>
  new Map(rows.map((row) => [row.repo.id, toRepositoryContext(actor, row)]));

export function isNamed(owner: string | SQL, name: string | SQL): SQL {
  return allOf(eq(users.lowerName, lowered(owner)), eq(repositories.lowerName, lowered(name)));
}

/** The names of a repository. */
interface Named {
  readonly owner: string;
  readonly name: string;
}

const toLower = ({ owner, name }: Named): Named => ({
  owner: owner.toLowerCase(),
  name: name.toLowerCase(),
});

type NamedParams = Params<Named & { caller: CallerArgument }>;

const repositoriesNamed = prepare((db, { caller, owner, name }: NamedParams) =>
  selectRepositories(db, toCallerSql(caller)).where(isNamed(owner, name)),
);

/** Selects the repository of a name. */
export const selectRepositoryNamed = (db: Database, caller: CallerArgument, named: Named) =>
  repositoriesNamed(db, { caller, ...toLower(named) });

/** Selects repositories by their id. */
const selectRepositoryById = prepare(
  (db, { caller, id }: Params<{ caller: CallerArgument; id: number }>) =>
    selectRepositories(db, toCallerSql(caller)).where(eq(repositories.id, id)),
);

/** Selects the repository of a name, and the repositories of its fork network that match `relative`. */
export const selectNamedOrRelated = (
  db: Database,
  caller: CallerArgument,
  named: Named,
  relative: Relative,
) =>
  repositoriesNamedOrRelated(db, {
    caller,
    ...toLower(named),
    relative: { owner: relative.owner.toLowerCase(), repo: relative.repo?.toLowerCase() },
  });

/** The owner of repositories of a fork network, and their name. */
interface Relative {
  readonly owner: string;
  readonly repo: string | undefined;
}

const repositoriesNamedOrRelated = prepare(
  (db, { caller, owner, name, relative }: NamedParams & Params<{ relative: Relative }>) =>
    selectRepositories(db, toCallerSql(caller)).where(isNamedOrRelated(owner, name, relative)),
);

function isNamedOrRelated(owner: SQL, name: SQL, relative: Params<Relative>): SQL {
  const named = sql`
    select ${repositories.id} as id, ${repositories.networkName} as network
    from ${users}
    join ${repositories} on ${repositories.ownerId} = ${users.id}
    where ${users.lowerName} = ${owner}
      and ${repositories.lowerName} = ${name}`;
  const isRelative = allOf(
    eq(users.lowerName, relative.owner),
    relative.repo && eq(repositories.lowerName, relative.repo),
    sql`${repositories.networkName} <> ''`,
    sql`${repositories.networkName} = (select network from named)`,
  );
  const related = sql`
    select ${repositories.id}
    from ${users}
    join ${repositories} on ${repositories.ownerId} = ${users.id}
    where ${isRelative}`;
  return sql`${repositories.id} in (
    with named as (${named}) select id from named union all ${related}
  )`;
}

/** Finds a repository by its id; undefined if the caller may not see it. */
export async function findRepositoryById(
  ctx: Ctx,
  id: number,
): Promise<RepositoryContext | undefined> {
  const repo = await findById(ctx, id);
  return repo && isAllowed(repo, TO_SEE) ? repo : undefined;
}

/** Finds a repository by its present names; undefined if the caller may not see it. */
export async function findVisibleRepository(
  ctx: Ctx,
  owner: string,
  name: string,
): Promise<RepositoryContext | undefined> {
  const [row] = await selectRepositoryNamed(ctx.db, callerArgument(ctx.actor), { owner, name });
  const repo = row && toRepositoryContext(ctx.actor, row);
  return repo && isAllowed(repo, TO_SEE) ? repo : undefined;
}

/**
 * Finds the parent of a fork with the caller's permission in it; undefined for a repository that is not a
 * fork.
 *
 * Cost: one query for a fork.
 */
export async function findParent(
  ctx: Ctx,
  { parentId }: Repository,
): Promise<RepositoryContext | undefined> {
  return parentId === null ? undefined : findById(ctx, parentId);
}

async function findById({ db, actor }: Ctx, id: number): Promise<RepositoryContext | undefined> {
  const [row] = await selectRepositoryById(db, { caller: callerArgument(actor), id });
  return row && toRepositoryContext(actor, row);
}

/** The condition for a repository that was renamed or transferred from this name, or whose owner was renamed. */
function wasNamed(lowerOwner: SQL, lowerName: SQL): SQL {
  const owners = sql`(
    select ${users.id}
    from ${users}
    where ${users.lowerName} = ${lowerOwner}
    union all select ${userRedirects.userId}
    from ${userRedirects}
    where ${userRedirects.lowerName} = ${lowerOwner}
  )`;
  return sql`${repositories.id} in (
    select id
    from (select id from ${repositories} where owner_id in ${owners} and lower_name = ${lowerName})
    union all select ${repositoryRedirects.repoId}
    from ${repositoryRedirects}
    where ${repositoryRedirects.ownerId} in ${owners}
      and ${repositoryRedirects.lowerName} = ${lowerName}
  )`;
}

const repositoryFormerlyNamed = prepare((db, { caller, owner, name }: NamedParams) =>
  selectRepositories(db, toCallerSql(caller)).where(wasNamed(owner, name)).limit(1),
);

const accountRedirects = prepare((db, { name }: Params<{ name: string }>) =>
  db
    .select({ userId: userRedirects.userId })
    .from(userRedirects)
    .where(eq(userRedirects.lowerName, name)),
);

/** A repository under another name than the requested one. */
export interface RenamedRepository {
  readonly repo: RepositoryContext;
  /** Whether the account has the requested owner's name no more. */
  readonly isOwnerRenamed: boolean;
}

/**
 * Finds the repository that was renamed or transferred from this name, or whose owner was renamed; undefined if there
 * is none.
 *
 * SECURITY: undefined also if the caller may not see it: a redirect would reveal that it exists.
 */
export async function findRenamed(
  ctx: Ctx,
  owner: string,
  name: string,
): Promise<RenamedRepository | undefined> {
  const caller = callerArgument(ctx.actor);
  const [[row], former] = await ctx.db.batch([
    repositoryFormerlyNamed(ctx.db, { caller, ...toLower({ owner, name }) }),
    accountRedirects(ctx.db, { name: owner.toLowerCase() }),
  ]);
  const repo = row && toRepositoryContext(ctx.actor, row);
  if (!repo || !isAllowed(repo, TO_SEE)) return undefined;
  return { repo, isOwnerRenamed: former.length > 0 };
}
