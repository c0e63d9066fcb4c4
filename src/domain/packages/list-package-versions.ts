import { and, count, desc, eq, type SQL, sql } from "drizzle-orm";

import { accessFacts } from "../../auth/access/facts.ts";
import { isPackageInReach } from "../../auth/access/credential-reach.ts";
import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { allOf, columnsOf } from "../../db/db.ts";
import { jsonRows } from "../../db/json-rows.ts";
import { packages, packageVersions, repositories, users } from "../../db/schema/index.ts";
import type { PackageVersionEntry } from "../../shapes/packages/package.ts";
import type { Listed, Slice } from "../slice.ts";
import { type PackageContext, type PackageOwner, toPackageContext } from "./find-package.ts";
import { idOfVersionNamed } from "./find-version.ts";
import { isPackageVisible } from "./package-visibility.ts";

/** The filter of a list of versions; what is undefined does not filter. */
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
  const isListed = allOf(
    eq(packageVersions.ownerId, owner.account.id),
    type === undefined ? undefined : sql`${packageVersions.type} = ${type}`,
    text === undefined ? undefined : sql`instr(lower(${packages.name}), ${text.toLowerCase()}) > 0`,
    await isInReach(ctx, owner),
  );
  return listVersions(ctx, owner, isListed, slice);
}

/** Lists the versions of one package, newest first. */
export const listVersionsOf = (
  ctx: Ctx,
  { row, owner }: PackageContext,
  slice: Slice,
): Promise<Listed<VersionOfPackage>> =>
  listVersions(ctx, owner, eq(packageVersions.packageId, row.id), slice);

/** Finds a version of a package that a person names, or the newest one without a name; undefined if there is none. */
export async function findVersionEntry(
  ctx: Ctx,
  pkg: PackageContext,
  name?: string,
): Promise<VersionOfPackage | undefined> {
  const isWanted = allOf(
    isShown(ctx, pkg.owner),
    eq(packageVersions.packageId, pkg.row.id),
    name === undefined ? undefined : eq(packageVersions.id, idOfVersionNamed(pkg, name)),
  );
  const [found] = await selectVersions(ctx, isWanted).orderBy(desc(packageVersions.id)).limit(1);
  return found && toEntry(ctx, pkg.owner, found);
}

/** SECURITY: versions that nobody sees are of no list, and neither are those of packages that the caller may not see. */
const isShown = ({ actor }: Ctx, owner: PackageOwner): SQL =>
  allOf(eq(packageVersions.isInternal, false), isPackageVisible(actor, owner));

async function listVersions(
  ctx: Ctx,
  owner: PackageOwner,
  isWanted: SQL,
  { size, offset }: Slice,
): Promise<Listed<VersionOfPackage>> {
  const isListed = and(isShown(ctx, owner), isWanted);
  const [rows, [counted]] = await ctx.db.batch([
    selectVersions(ctx, isListed).orderBy(desc(packageVersions.id)).limit(size).offset(offset),
    ctx.db
      .select({ total: count().as("total") })
      .from(packageVersions)
      .innerJoin(packages, eq(packages.id, packageVersions.packageId))
      .leftJoin(repositories, eq(repositories.id, packages.repoId))
      .where(isListed),
  ]);
  const items = rows.flatMap((row) => toEntry(ctx, owner, row) ?? []);
  return { items, total: counted?.total ?? 0 };
}

const selectVersions = ({ db, actor }: Ctx, isListed: SQL | undefined) =>
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
      ...accessFacts(callerSql(actor)),
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

/** The condition for what a token is bound to by patterns of packages; undefined for another credential. */
async function isInReach(ctx: Ctx, { account }: PackageOwner): Promise<SQL | undefined> {
  const { db, actor } = ctx;
  if (!actor.token?.boundPackages) return undefined;
  const { id, type, name } = packages;
  const all = await db
    .select({ id, type, name })
    .from(packages)
    .where(eq(packages.ownerId, account.id))
    .orderBy(desc(id))
    .limit(MATCHED_MAX);
  const reached = all.filter((each) =>
    isPackageInReach(actor, { owner: account.name, type: each.type, name: each.name }),
  );
  const list = JSON.stringify(reached.map((each) => each.id));
  return sql`${packages.id} in (select value from json_each(${list}))`;
}

/** Lists the versions of some ids, in their order, as far as the caller may see them. */
export async function listVersionsIn(
  ctx: Ctx,
  owner: PackageOwner,
  ids: readonly number[],
): Promise<VersionOfPackage[]> {
  const rows = await selectVersions(
    ctx,
    allOf(
      isShown(ctx, owner),
      eq(packageVersions.ownerId, owner.account.id),
      sql`${packageVersions.id} in (select value from json_each(${JSON.stringify(ids)}))`,
    ),
  );
  const byId = new Map(rows.map((row) => [row.version.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return (row && toEntry(ctx, owner, row)) ?? [];
  });
}
