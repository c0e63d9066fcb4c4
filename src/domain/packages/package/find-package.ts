import { and, eq, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isPackageInReach } from "../../../auth/access/credential-reach.ts";
import { accessFacts, type AccessFacts } from "../../../auth/access/facts.ts";
import { organizationFacts } from "../../../auth/access/organizations.ts";
import {
  type PackageFacts,
  resolvePackageAccess,
  teamPackageAccess,
} from "../../../auth/access/packages.ts";
import { isAllowed, resolvePermission } from "../../../auth/access/permission.ts";
import { TO_SEE } from "../../../auth/access/requirement.ts";
import type { Actor } from "../../../auth/actor.ts";
import {
  type CallerArgument,
  callerArgument,
  type CallerSql,
  toCallerSql,
} from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { allOf, columnsOf, type Database } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  packages,
  repositories,
  users,
  type Access,
  type Package,
  type PackageType,
  type Repository,
  type User,
} from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { type AccountRow, isOrWasNamed } from "../../people/accounts/find-account.ts";
import { isUnlinkedPackageVisible } from "./package-visibility.ts";

const namedUser = alias(users, "named");

/** An account as the owner of packages, with what the caller may do with them. */
export interface PackageOwner {
  readonly account: User;
  readonly access: Access;
}

/** A package that the caller may see. */
export interface PackageContext {
  readonly row: Package;
  readonly owner: PackageOwner;
  /** The repository it is linked to. */
  readonly repo: RepositoryContext | undefined;
}

/** The name of a package in the form that its format compares, and its type. */
export interface PackageKey {
  readonly type: PackageType;
  readonly nameKey: string;
}

/** A queried account with the facts that decide what the caller may do with its packages. */
export interface PackageOwnerRow extends AccountRow, Pick<PackageFacts, "teamAccess"> {}

/** Selects owners of packages as `selectAccountsOfName` selects accounts. */
export const selectPackageOwner = prepare(
  (db, { caller, name }: Params<{ caller: CallerArgument; name: string }>) => {
    const { actorId } = toCallerSql(caller);
    return db
      .select({
        account: columnsOf(users, "a"),
        ...organizationFacts(actorId),
        teamAccess: teamPackageAccess(actorId),
      })
      .from(users)
      .where(isOrWasNamed(name));
  },
);

export const toPackageOwner = (actor: Actor, row: PackageOwnerRow): PackageOwner => ({
  account: row.account,
  access: resolvePackageAccess(actor, row.account, row),
});

/**
 * A queried package with the repository it is linked to and the facts that decide who sees that
 * one.
 */
interface PackageRow extends AccessFacts {
  readonly pkg: Package;
  readonly repo: Repository;
}

/** Selects packages; each query converts its rows by `toPackageContext`. */
export const selectPackages = (db: Database, who: CallerSql) =>
  db
    .select({
      pkg: columnsOf(packages, "p"),
      repo: columnsOf(repositories, "r"),
      ...accessFacts(who),
    })
    .from(packages)
    .leftJoin(repositories, eq(repositories.id, packages.repoId))
    .$dynamic();

/** The condition that a package belongs to the account of a name in lower case. */
export const isOwnerNamed = (name: SQL): SQL => sql`${packages.ownerId} = (
  select ${namedUser.id} from ${users} ${namedUser} where ${namedUser.lowerName} = ${name}
)`;

/** A caller and an owner of packages, who is not known yet when a query of them is sent. */
export interface OwnerArgument {
  readonly caller: CallerArgument;
  /** In lower case. */
  readonly ownerName: string;
}

/** A package of an owner, by its key. */
export interface PackageArgument extends OwnerArgument, PackageKey {}

/** The condition for the package of a key. */
export const isPackageOf = ({
  ownerName,
  type,
  nameKey,
}: Params<Omit<PackageArgument, "caller">>): SQL =>
  allOf(isOwnerNamed(ownerName), eq(packages.type, type), eq(packages.nameKey, nameKey));

/** Selects the package of an owner by its key. */
export const selectPackage = prepare((db, p: Params<PackageArgument>) =>
  selectPackages(db, toCallerSql(p.caller)).where(isPackageOf(p)),
);

/**
 * Finds a package that the caller may see, where its name is known only after the request was
 * entered.
 */
export async function findPackage(
  { db, actor }: Ctx,
  owner: PackageOwner,
  key: PackageKey,
): Promise<PackageContext | undefined> {
  const [row] = await selectPackage(db, {
    caller: callerArgument(actor),
    ownerName: owner.account.lowerName,
    type: key.type,
    nameKey: key.nameKey,
  });
  return toPackageContext(actor, owner, row);
}

/**
 * Selects the package of an owner by a name that a person typed: as it was published, else in the
 * form in which its format compares names, which is the same or in lower case for most.
 */
export const selectPackageByName = (
  db: Database,
  caller: CallerArgument,
  ownerName: string,
  { type, name }: { readonly type: string; readonly name: string },
) =>
  packageOfName(db, {
    caller,
    ownerName: ownerName.toLowerCase(),
    type: type.toLowerCase(),
    name,
    lowerName: name.toLowerCase(),
  });

interface TypedName {
  readonly caller: CallerArgument;
  readonly ownerName: string;
  readonly type: string;
  readonly name: string;
  readonly lowerName: string;
}

const packageOfName = prepare(
  (db, { caller, ownerName, type, name, lowerName }: Params<TypedName>) =>
    selectPackages(db, toCallerSql(caller))
      .where(
        and(
          isOwnerNamed(ownerName),
          sql`${packages.type} = ${type}`,
          sql`(${packages.nameKey} in (${name}, ${lowerName}) or ${packages.name} = ${name})`,
        ),
      )
      .orderBy(sql`${packages.name} = ${name} desc`, packages.id)
      .limit(1),
);

/**
 * Resolves a queried package.
 *
 * SECURITY: a package that is linked to a repository is seen by those who see the repository,
 * through every route; `isPackageVisible` is the same rule for lists.
 *
 * @param row Undefined if there is none.
 * @returns Undefined also if the caller may not see it.
 */
export function toPackageContext(
  actor: Actor,
  owner: PackageOwner,
  row: PackageRow | undefined,
): PackageContext | undefined {
  if (!row) return undefined;
  const { pkg } = row;
  const name = { owner: owner.account.name, type: pkg.type, name: pkg.name };
  if (!isPackageInReach(actor, name)) return undefined;
  if (pkg.repoId === null) {
    return isUnlinkedPackageVisible(actor, owner, pkg)
      ? { row: pkg, owner, repo: undefined }
      : undefined;
  }
  const permission = resolvePermission(actor, row.repo, row);
  const { pendingTransferTo } = row;
  const repo = { row: row.repo, owner: owner.account, permission, pendingTransferTo };
  return isAllowed(repo, TO_SEE) ? { row: pkg, owner, repo } : undefined;
}
