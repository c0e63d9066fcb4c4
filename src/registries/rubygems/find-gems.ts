import { and, asc, eq, inArray, or, type SQL, sql } from "drizzle-orm";

import { toCallerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageFiles, packages, packageVersions } from "../../db/schema/index.ts";
import { type FileOfVersion, selectFiles } from "../../domain/packages/find-file.ts";
import {
  isOwnerNamed,
  type OwnerArgument,
  type PackageContext,
  selectPackages,
} from "../../domain/packages/find-package.ts";
import type { IndexedGem } from "./compact-index.ts";
import { compareGemVersions, gemVersionKey, isPrerelease } from "./gem-version.ts";
import { type GemSlug, slugKey } from "./names.ts";
import type { GemSpec } from "./parse-gemspec.ts";

/** What is stored with the file of a gem. */
export interface GemFileMetadata {
  readonly spec: GemSpec;
  /** Its line in the index of the gem. */
  readonly line: string;
}

/** A file of a gem with its package. */
export interface IndexedGemRow extends IndexedGem {
  readonly id: number;
  readonly repoId: number | null;
  readonly isRestricted: boolean;
  readonly isConcealed: boolean;
  readonly fileId: number;
}

/** A part of the metadata of a file, by its path as in `$.line`. */
const fromMetadata = (path: string): SQL<string> =>
  sql<string>`${packageFiles.metadata} ->> ${path}`;

/** Lists the files of gems in the order of their publication. */
export const listGems = ({ db }: Ctx, condition: SQL | undefined): Promise<IndexedGemRow[]> =>
  db
    .select({
      id: packages.id,
      repoId: packages.repoId,
      isRestricted: packages.isRestricted,
      isConcealed: packages.isConcealed,
      fileId: packageFiles.id,
      name: packages.name,
      number: fromMetadata("$.spec.number"),
      platform: fromMetadata("$.spec.platform"),
      line: fromMetadata("$.line"),
    })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .innerJoin(packageFiles, eq(packageFiles.versionId, packageVersions.id))
    .where(and(condition, eq(packageVersions.isInternal, false)))
    .orderBy(asc(packageFiles.id));

/** The newest version of each gem: a release if there is one. */
export function newestOf(gems: readonly IndexedGemRow[]): IndexedGemRow[] {
  const newest = new Map<number, IndexedGemRow>();
  for (const gem of gems) {
    const known = newest.get(gem.id);
    if (!known || isNewer(gem, known)) newest.set(gem.id, gem);
  }
  return [...newest.values()];
}

function isNewer({ number }: GemSlug, { number: known }: GemSlug): boolean {
  if (isPrerelease(number) !== isPrerelease(known)) return isPrerelease(known);
  return compareGemVersions(number, known) > 0;
}

/** Files by their ids, in the order of these. */
export async function listFiles({ db }: Ctx, fileIds: readonly number[]): Promise<FileOfVersion[]> {
  const list = JSON.stringify(fileIds);
  return selectFiles(db)
    .innerJoin(
      sql`(select key as place, value as id from json_each(${list})) as listed`,
      sql`listed.id = ${packageFiles.id}`,
    )
    .orderBy(sql`listed.place`);
}

/** The condition on versions of gems of an owner. */
export const isGemOf = (ownerId: number): SQL =>
  sql`${packageVersions.ownerId} = ${ownerId} and ${packageVersions.type} = 'rubygems'`;

/** Selects the packages of an owner by their names, with what decides whether the caller sees them. */
export const selectGemPackages = prepare(
  (db, { caller, ownerName, names }: Params<OwnerArgument & { names: readonly string[] }>) =>
    selectPackages(db, toCallerSql(caller)).where(
      and(isOwnerNamed(ownerName), eq(packages.type, "rubygems"), inArray(packages.nameKey, names)),
    ),
);

/** Finds a file of the given gems by what its name may mean. */
export async function findGemFile(
  { db }: Ctx,
  gems: readonly PackageContext[],
  readings: readonly GemSlug[],
): Promise<FileOfVersion | undefined> {
  const conditions = readings.flatMap((slug) => {
    const gem = gems.find(({ row }) => row.nameKey === slug.name);
    if (!gem) return [];
    return and(
      eq(packageVersions.packageId, gem.row.id),
      eq(packageVersions.versionKey, gemVersionKey(slug.number)),
      eq(packageFiles.nameKey, slugKey(slug)),
    );
  });
  if (conditions.length === 0) return undefined;
  const [found] = await selectFiles(db)
    .where(or(...conditions))
    .limit(1);
  return found;
}
