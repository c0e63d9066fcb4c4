import { and, count, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { accessFacts } from "../../../auth/access/facts.ts";
import { isPackageInReach } from "../../../auth/access/credential-reach.ts";
import { toCallerSql } from "../../../auth/caller-sql.ts";
import { type Principal, principalOf } from "../../../auth/principal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, columnsOf, type Database } from "../../../db/db.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  ACCESS,
  packages,
  packageVersions,
  repositories,
  users,
} from "../../../db/schema/index.ts";
import type { PackageVersionEntry } from "../../../shapes/packages/package.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../../slice.ts";
import { type PackageContext, type PackageOwner, toPackageContext } from "./find-package.ts";
import { idOfVersionNamed, type VersionName, versionName } from "./find-version.ts";
import { isPackageVisible } from "./package-visibility.ts";

/** The filter of a list of versions; fields that are undefined do not filter. */
export interface PackageFilter {
  /** A format; one that is unknown has no packages. */
  readonly type?: string | undefined;
  /** A part of the name, in any case. */
  readonly text?: string | undefined;
}

/** A version with its package. */
export type VersionOfPackage = PackageVersionEntry & { readonly pkg: PackageContext };

/** Packages of an owner that a token that is bound to packages chooses from, at most. */
const MATCHED_MAX = 10_000;

/**
 * Lists the versions of an owner's packages that the caller may see, newest first.
 *
 * Cost: one round trip; another one before it for a token that is bound to packages.
 */
export async function listOwnerVersions(
  ctx: Ctx,
  owner: PackageOwner,
  { type, text }: PackageFilter,
  slice: Slice,
): Promise<Listed<VersionOfPackage>> {
  const filter = {
    ownerId: owner.account.id,
    type,
    text: text?.toLowerCase(),
    packageIds: await idsInReach(ctx, owner),
  };
  return listVersions(ctx, owner, filter, slice);
}

/**
 * Lists the packages of an owner that the caller may see, each as its newest version, the last
 * published first.
 *
 * Cost: as `listOwnerVersions`.
 */
export const listNewestVersions = async (
  ctx: Ctx,
  owner: PackageOwner,
  { type, text }: PackageFilter,
  slice: Slice,
): Promise<Listed<VersionOfPackage>> => {
  const filter = {
    ownerId: owner.account.id,
    type,
    text: text?.toLowerCase(),
    packageIds: await idsInReach(ctx, owner),
    isNewest: true,
  };
  return listVersions(ctx, owner, filter, slice);
};

/** Lists the packages that are linked to a repository, in the same way. */
export const listLinkedPackages = (
  ctx: Ctx,
  { row, owner }: RepositoryContext,
  { type, text }: PackageFilter,
  slice: Slice,
): Promise<Listed<VersionOfPackage>> => {
  const filter = { repoId: row.id, type, text: text?.toLowerCase(), isNewest: true };
  // A package that is linked is seen by those who see the repository, writers or not.
  return listVersions(ctx, { account: owner, access: ACCESS.read }, filter, slice);
};

/** Lists the versions of one package, newest first. */
export const listVersionsOf = (
  ctx: Ctx,
  { row, owner }: PackageContext,
  slice: Slice,
): Promise<Listed<VersionOfPackage>> => listVersions(ctx, owner, { packageId: row.id }, slice);

/**
 * Finds a version of a package that a person names, or the newest one without a name; undefined if
 * there is none.
 */
export async function findVersionEntry(
  ctx: Ctx,
  pkg: PackageContext,
  name?: string,
): Promise<VersionOfPackage | undefined> {
  const [found] = await newestVersion(ctx.db, {
    ...toReader(ctx, pkg.owner),
    packageId: pkg.row.id,
    name: name === undefined ? undefined : versionName(name),
  });
  return found && toEntry(ctx, pkg.owner, found);
}

/** The caller, and whether they may write the packages of the owner. */
interface Reader {
  readonly principal: Principal;
  readonly mayWrite: boolean;
}

const toReader = ({ actor }: Ctx, { access }: PackageOwner): Reader => ({
  principal: principalOf(actor),
  mayWrite: access >= ACCESS.write,
});

/** The filter of a query; fields that are undefined do not restrict it. */
interface VersionFilter {
  readonly ownerId?: number;
  readonly packageId?: number;
  readonly repoId?: number;
  /** Whether a package counts by its newest version alone. */
  readonly isNewest?: boolean;
  readonly type?: string | undefined;
  /** In lower case. */
  readonly text?: string | undefined;
  readonly packageIds?: readonly number[] | undefined;
  readonly ids?: readonly number[];
}

const newer = alias(packageVersions, "newer");

/** The id of the newest version of the package of a row. */
const newestVersionId = sql<number>`(
  select ${newer.id}
  from ${packageVersions} ${newer}
  where ${newer.packageId} = ${packages.id} and not ${newer.isInternal}
  order by ${newer.id} desc
  limit 1
)`;

const matchesFilter = (p: Params<VersionFilter>): SQL =>
  allOf(
    p.ownerId && eq(packageVersions.ownerId, p.ownerId),
    p.packageId && eq(packageVersions.packageId, p.packageId),
    p.repoId && eq(packages.repoId, p.repoId),
    p.isNewest ? eq(packageVersions.id, newestVersionId) : undefined,
    p.type && sql`${packageVersions.type} = ${p.type}`,
    p.text && sql`instr(lower(${packages.name}), ${p.text}) > 0`,
    p.packageIds && inArray(packages.id, p.packageIds),
    p.ids && inArray(packageVersions.id, p.ids),
  );

/**
 * SECURITY: versions that nobody sees are of no list, and neither are those of packages that the
 * caller may not see.
 */
const isShown = ({ principal, mayWrite }: Params<Reader>): SQL =>
  allOf(eq(packageVersions.isInternal, false), isPackageVisible(principal, mayWrite));

async function listVersions(
  ctx: Ctx,
  owner: PackageOwner,
  filter: VersionFilter,
  { size, offset }: Slice,
): Promise<Listed<VersionOfPackage>> {
  const {
    rows,
    counted: [counted],
  } = await batch(
    ctx.db,
    versionPage(ctx.db, { ...toReader(ctx, owner), ...filter, size, offset }),
  );
  const items = rows.flatMap((row) => toEntry(ctx, owner, row) ?? []);
  return { items, total: counted?.total ?? 0 };
}

const versionPage = prepareAll((db, p: Params<Reader & VersionFilter & Slice>) => {
  const isListed = and(isShown(p), matchesFilter(p));
  return {
    rows: selectVersions(db, p.principal, isListed)
      .orderBy(desc(packageVersions.id))
      .limit(p.size)
      .offset(p.offset),
    counted: db
      .select({ total: count().as("total") })
      .from(packageVersions)
      .innerJoin(packages, eq(packages.id, packageVersions.packageId))
      .leftJoin(repositories, eq(repositories.id, packages.repoId))
      .where(isListed),
  };
});

type NamedVersion = Reader & { readonly packageId: number; readonly name: VersionName | undefined };

const newestVersion = prepare((db, p: Params<NamedVersion>) =>
  selectVersions(
    db,
    p.principal,
    allOf(
      isShown(p),
      eq(packageVersions.packageId, p.packageId),
      p.name && eq(packageVersions.id, idOfVersionNamed(p.packageId, p.name)),
    ),
  )
    .orderBy(desc(packageVersions.id))
    .limit(1),
);

const selectVersions = (db: Database, principal: Params<Principal>, isListed: SQL | undefined) =>
  db
    .select({
      // Without the metadata, which may be large.
      version: {
        id: sql<number>`${packageVersions.id}`.as("v_id"),
        version: sql<string>`${packageVersions.version}`.as("v_version"),
        createdAt: sql<number>`${packageVersions.createdAt}`.as("v_created_at"),
      },
      pkg: columnsOf(packages, "p"),
      repo: columnsOf(repositories, "r"),
      // As one value: a result of D1 has at most a hundred columns.
      creators: jsonRows(
        users,
        sql`from ${users} where ${users.id} = ${packageVersions.creatorId}`,
        "creators",
      ),
      ...accessFacts(toCallerSql(principal)),
    })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .leftJoin(repositories, eq(repositories.id, packages.repoId))
    .where(isListed)
    .$dynamic();

type VersionRow = Awaited<ReturnType<typeof selectVersions>>[number];

function toEntry(
  { actor }: Ctx,
  owner: PackageOwner,
  { version, creators, ...row }: VersionRow,
): VersionOfPackage | undefined {
  const pkg = toPackageContext(actor, owner, row);
  return pkg && { version, pkg, creator: creators[0] };
}

/**
 * The ids of the packages that a token is bound to by patterns; undefined for another credential.
 */
async function idsInReach(ctx: Ctx, { account }: PackageOwner): Promise<number[] | undefined> {
  const { db, actor } = ctx;
  if (!actor.token?.boundPackages) return undefined;
  const all = await newestPackages(db, { ownerId: account.id });
  const reached = all.filter((each) =>
    isPackageInReach(actor, { owner: account.name, type: each.type, name: each.name }),
  );
  return reached.map((each) => each.id);
}

const newestPackages = prepare((db, p: Params<{ ownerId: number }>) => {
  const { id, type, name } = packages;
  return db
    .select({ id, type, name })
    .from(packages)
    .where(eq(packages.ownerId, p.ownerId))
    .orderBy(desc(id))
    .limit(MATCHED_MAX);
});

/** Lists the versions of some ids, in their order, as far as the caller may see them. */
export async function listVersionsIn(
  ctx: Ctx,
  owner: PackageOwner,
  ids: readonly number[],
): Promise<VersionOfPackage[]> {
  const rows = await versionsOfIds(ctx.db, {
    ...toReader(ctx, owner),
    ownerId: owner.account.id,
    ids,
  });
  const byId = new Map(rows.map((row) => [row.version.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return (row && toEntry(ctx, owner, row)) ?? [];
  });
}

const versionsOfIds = prepare((db, p: Params<Reader & VersionFilter>) =>
  selectVersions(db, p.principal, allOf(isShown(p), matchesFilter(p))),
);
