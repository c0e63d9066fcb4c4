import { eq, sql, type SQL } from "drizzle-orm";

import { accessFacts, type AccessFacts } from "../../../auth/access/facts.ts";
import { isAllowed, resolvePermission } from "../../../auth/access/permission.ts";
import { TO_SEE } from "../../../auth/access/requirement.ts";
import type { Actor } from "../../../auth/actor.ts";

import {
  callerArgument,
  type CallerArgument,
  type CallerSql,
  toCallerSql,
} from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { allOf, columnsOf, type Database, flagColumn } from "../../../db/db.ts";
import { lowered } from "../../../db/ids-of-names.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  repositories,
  repositoryRedirects,
  userRedirects,
  users,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { forkFamilyOf } from "./fork-family.ts";

/** A repository as loaded by a query, before the caller's permission is resolved. */
export interface RepositoryRow extends AccessFacts {
  repo: Repository;
  owner: User;
}

/**
 * Selects repositories with their owners and the facts for resolving access; one query, any number
 * of rows.
 */
export function selectRepositories(db: Database, caller: CallerSql) {
  return db
    .select(repositoryColumns(caller))
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .$dynamic();
}

const repositoryColumns = (caller: CallerSql) => ({
  repo: columnsOf(repositories, "r"),
  owner: columnsOf(users, "o"),
  ...accessFacts(caller),
});

/**
 * Resolves the caller's permission; every query for repositories converts its rows by this
 * function.
 */
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

/** A repository that has a name, or had it. */
export interface NamedRow extends RepositoryRow {
  /** Whether the account that had the owner's name has another one now. */
  readonly isOwnerRenamed: boolean;
}

/** Selects repositories that a condition finds by the name of an owner. */
const selectOfOwner = (db: Database, caller: CallerSql, lowerOwner: SQL) =>
  db
    .select({ ...repositoryColumns(caller), isOwnerRenamed: isAccountRenamed(lowerOwner) })
    .from(repositories)
    .innerJoin(users, eq(users.id, repositories.ownerId))
    .$dynamic();

const isAccountRenamed = (lowerName: SQL): SQL.Aliased<boolean> =>
  flagColumn(
    sql`exists (select 1 from ${userRedirects} where ${userRedirects.lowerName} = ${lowerName})`,
    "is_owner_renamed",
  );

const repositoriesOfName = prepare((db, { caller, owner, name }: NamedParams) =>
  selectOfOwner(db, toCallerSql(caller), owner).where(
    sql`${repositories.id} in (${idsOfName(owner, name)})`,
  ),
);

/**
 * Selects the repository that has a name, and the one that was renamed or transferred from it, or
 * whose owner was renamed.
 *
 * SECURITY: both in one query. A second query only for unknown names would reveal the names of
 * hidden repositories by its time.
 */
export const selectRepositoriesOfName = (db: Database, caller: CallerArgument, named: Named) =>
  repositoriesOfName(db, { caller, ...toLower(named) });

/** The row of the repository that has a name now. */
export const findNamed = <R extends RepositoryRow>(
  rows: readonly R[],
  { owner, name }: Named,
): R | undefined =>
  rows.find(
    (row) =>
      row.owner.lowerName === owner.toLowerCase() && row.repo.lowerName === name.toLowerCase(),
  );

/** Selects repositories by their id. */
const selectRepositoryById = prepare(
  (db, { caller, id }: Params<{ caller: CallerArgument; id: number }>) =>
    selectRepositories(db, toCallerSql(caller)).where(eq(repositories.id, id)),
);

/** The same, and the repositories of the fork network that match `relative`. */
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
    selectOfOwner(db, toCallerSql(caller), owner).where(isNamedOrRelated(owner, name, relative)),
);

function isNamedOrRelated(owner: SQL, name: SQL, relative: Params<Relative>): SQL {
  const networkOfNamed = sql`(
    select ${repositories.networkName}, ${forkFamilyOf()}
    from ${users}
    join ${repositories} on ${repositories.ownerId} = ${users.id}
    where ${users.lowerName} = ${owner}
      and ${repositories.lowerName} = ${name}
  )`;
  const isRelative = allOf(
    eq(users.lowerName, relative.owner),
    relative.repo && eq(repositories.lowerName, relative.repo),
    sql`${repositories.networkName} <> ''`,
    sql`(${repositories.networkName}, ${forkFamilyOf()}) = ${networkOfNamed}`,
  );
  const related = sql`
    select ${repositories.id}
    from ${users}
    join ${repositories} on ${repositories.ownerId} = ${users.id}
    where ${isRelative}`;
  return sql`${repositories.id} in (${idsOfName(owner, name)} union all ${related})`;
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
  const [row] = await repositoriesNamed(ctx.db, {
    caller: callerArgument(ctx.actor),
    ...toLower({ owner, name }),
  });
  const repo = row && toRepositoryContext(ctx.actor, row);
  return repo && isAllowed(repo, TO_SEE) ? repo : undefined;
}

/**
 * Finds the parent of a fork with the caller's permission in it; undefined for a repository that is
 * not a fork.
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

/** Selects the ids of the repository that has a name, and of the one that had it. */
function idsOfName(lowerOwner: SQL, lowerName: SQL): SQL {
  const owners = sql`(
    select ${users.id}
    from ${users}
    where ${users.lowerName} = ${lowerOwner}
    union all select ${userRedirects.userId}
    from ${userRedirects}
    where ${userRedirects.lowerName} = ${lowerOwner}
  )`;
  return sql`
    select id
    from (select id from ${repositories} where owner_id in ${owners} and lower_name = ${lowerName})
    union all select ${repositoryRedirects.repoId}
    from ${repositoryRedirects}
    where ${repositoryRedirects.ownerId} in ${owners}
      and ${repositoryRedirects.lowerName} = ${lowerName}`;
}
