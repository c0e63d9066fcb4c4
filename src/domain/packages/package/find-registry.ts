import { and, eq, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { accessFacts } from "../../../auth/access/facts.ts";
import { type Actor, boundTokenId } from "../../../auth/actor.ts";
import { isPackageInReach } from "../../../auth/access/credential-reach.ts";
import { mayBeGranted } from "../../../auth/access/grants.ts";
import { type CallerSql, toCallerSql } from "../../../auth/caller-sql.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  accessTokenRepositories,
  packageRegistries,
  packages,
  repositories,
  users,
  type Package,
  type PackageRegistry,
  type PackageType,
} from "../../../db/schema/index.ts";
import { type OwnerArgument, type PackageOwner, toPackageContext } from "./find-package.ts";
import { isUnlinkedPackageVisible } from "./package-visibility.ts";

const namedUser = alias(users, "named");
const doubtful = alias(packages, "doubtful");
const callerUser = alias(users, "caller");
const bound = alias(accessTokenRepositories, "bound");

export interface ShownRegistry extends PackageRegistry {
  /**
   * Whether a date says what the caller's indexes show. It does not where that also follows from
   * the caller's access and credential, whose changes have no date.
   */
  readonly isDated: boolean;
}

/** All packages of one format and owner, as far as the caller may see them. */
export interface RegistryView {
  readonly registry: PackageRegistry;
  /**
   * The same with the revision and the date of what the caller may see, if that is no concealed
   * package.
   */
  readonly shown: ShownRegistry;
  /**
   * SECURITY: whether the caller may see a package of it. An index over several packages asks it
   * for each.
   */
  readonly sees: (
    pkg: Pick<Package, "id" | "name" | "repoId" | "isRestricted" | "isConcealed">,
  ) => boolean;
  /** The same for callers who see the same packages: a part of what an index is kept by. */
  readonly visibilityKey: string;
}

/**
 * Selects the registry of a format and owner with the packages in it that the caller may see though
 * not all who see the owner do, and perhaps some that the caller may not see.
 *
 * No row for each linked package: a caller who sees the owner sees those that are linked to
 * repositories which are not private. Rows are read of the others, unless the caller has nothing to
 * do with the owner; for a restricted user of all that are linked; and for a token that is bound to
 * repositories of those that are linked to these.
 */
export const selectRegistry = prepare((db, { caller, ...named }: Params<RegistryArgument>) => {
  const who = toCallerSql(caller);
  return db
    .select({
      registry: columnsOf(packageRegistries, "g"),
      pkg: columnsOf(packages, "p"),
      repo: columnsOf(repositories, "r"),
      ...accessFacts(who),
    })
    .from(users)
    .innerJoin(
      packageRegistries,
      and(eq(packageRegistries.ownerId, users.id), eq(packageRegistries.type, named.type)),
    )
    .leftJoin(packages, sql`${packages.id} in (${selectDoubtful(who, named)})`)
    .leftJoin(repositories, eq(repositories.id, packages.repoId))
    .where(eq(users.lowerName, named.ownerName));
});

/** A format and owner. */
interface RegistryArgument extends OwnerArgument {
  readonly type: PackageType;
}

/**
 * The ids of packages of which only their repository, or a grant, decides whether the caller sees
 * them.
 */
function selectDoubtful(
  who: CallerSql,
  { ownerName, type }: Params<Omit<RegistryArgument, "caller">>,
): SQL {
  const owner = sql`(
    select ${namedUser.id} from ${users} ${namedUser} where ${namedUser.lowerName} = ${ownerName}
  )`;
  const isOf = sql`${doubtful.ownerId} = ${owner} and ${doubtful.type} = ${type}`;
  const isRestrictedUser = sql`exists (
    select 1 from ${users} ${callerUser}
    where ${callerUser.id} = ${who.actorId} and ${callerUser.isRestricted}
  )`;
  // A condition on the caller alone is a table of its own, of one row or none: in `where`, SQLite
  // decides one with a subquery for each package again.
  const after = (isCaller: SQL) => sql`
    (select 1 where ${who.boundTokenId} is null and ${isCaller}) caller_is
    cross join ${packages} ${doubtful}`;
  return sql`
    select ${doubtful.id}
    from ${after(mayBeGranted(who.actorId, owner))}
    where ${isOf} and ${doubtful.isConcealed} = 1
    union all
    select ${doubtful.id}
    from ${after(isRestrictedUser)}
    where ${isOf} and ${doubtful.isConcealed} = 0 and ${doubtful.repoId} is not null
    union all
    select ${doubtful.id}
    from ${accessTokenRepositories} ${bound}
    cross join ${packages} ${doubtful}
    where ${bound.tokenId} = ${who.boundTokenId}
      and ${doubtful.repoId} = ${bound.repoId}
      and ${isOf}`;
}

type RegistryRow = Awaited<ReturnType<typeof selectRegistry>>[number];

/**
 * @param rows Those of `selectRegistry`; none where the owner never had a package of the format.
 */
export function toRegistryView(
  actor: Actor,
  owner: PackageOwner,
  type: PackageType,
  rows: readonly RegistryRow[] = [],
): RegistryView {
  const { account } = owner;
  const listed = rows.filter(({ pkg }) => pkg.id !== null);
  const seen = new Set(
    listed.filter((row) => toPackageContext(actor, owner, row)).map(({ pkg }) => pkg.id),
  );
  const isBound = boundTokenId(actor) !== undefined;
  // Of others, only what is concealed is in doubt.
  const isLinkedInDoubt = isBound || actor.user?.isRestricted === true;
  const sees: RegistryView["sees"] = (pkg) => {
    if (!isPackageInReach(actor, { owner: account.name, type, name: pkg.name })) return false;
    if (pkg.repoId === null) return isUnlinkedPackageVisible(actor, owner, pkg);
    return (!isLinkedInDoubt && !pkg.isConcealed) || seen.has(pkg.id);
  };
  const registry = rows[0]?.registry ?? {
    ownerId: account.id,
    type,
    revision: 0,
    changedAt: 0,
    publicRevision: 0,
    publicChangedAt: 0,
    datedAt: 0,
    publicDatedAt: 0,
    countedAt: 0,
    publicKey: "",
    sealedKey: "",
  };
  // SECURITY: what nobody shows this caller does not change the tag or the date of an index either.
  const isPublicView = !isLinkedInDoubt && seen.size === 0;
  const { publicRevision: revision, publicChangedAt: changedAt, publicDatedAt: datedAt } = registry;
  const patterns = actor.token?.boundPackages ?? null;
  return {
    registry,
    shown: isPublicView
      ? { ...registry, revision, changedAt, datedAt, isDated: datedAt > 0 && patterns === null }
      : { ...registry, isDated: false },
    sees,
    visibilityKey: JSON.stringify([
      isPublicView ? "public" : [...seen].toSorted((a, b) => a - b),
      isLinkedInDoubt,
      isBound,
      patterns,
    ]),
  };
}
