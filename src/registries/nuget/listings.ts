import { and, desc, eq, inArray, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { RegistryView } from "../../domain/packages/find-registry.ts";
import {
  packageBlobs,
  packageFiles,
  packages,
  packageVersions,
  type PackageVersion,
} from "../../db/schema/index.ts";
import {
  compareNugetVersions,
  isNugetPrerelease,
  type NugetVersion,
  nugetVersionKey,
  parseNugetVersion,
} from "./nuget-version.ts";
import type { NugetMetadata } from "./parse-nuspec.ts";

/** A version of a package in a list. */
export interface Listing {
  readonly packageId: number;
  readonly repoId: number | null;
  readonly isRestricted: boolean;
  readonly name: string;
  readonly versionId: number;
  readonly version: NugetVersion;
  readonly title: string;
  readonly tags: string;
  /** As JSON. */
  readonly packageTypes: string;
  readonly downloadCount: number;
  readonly createdAt: number;
  /** Whether it is the newest release of its package. */
  readonly isLatest: boolean;
  /** Whether it is the newest version of its package, of releases and prereleases. */
  readonly isAbsoluteLatest: boolean;
}

/** A version with everything that the documents show of it. */
export interface DetailedVersion {
  readonly id: string;
  readonly row: PackageVersion;
  readonly version: NugetVersion;
  readonly metadata: NugetMetadata;
}

/** Maximum number of words of a search. */
const TERMS_MAX = 10;
const SEARCHED = ["title", "tags", "description"];

/** The condition that a version of a package matches all words of a search. */
export function matchesSearch(text: string): SQL | undefined {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, TERMS_MAX);
  const metadata = sql.join(
    SEARCHED.map((field) => sql`coalesce(${packageVersions.metadata} ->> ${`$.${field}`}, '')`),
    sql` || ' ' || `,
  );
  return and(
    ...terms.map((term) => sql`instr(lower(${packages.name} || ' ' || ${metadata}), ${term}) > 0`),
  );
}

/** The condition that a package has one of these ids. */
export const hasPackageId = (ids: readonly string[]): SQL =>
  inArray(
    packages.nameKey,
    ids.map((id) => id.toLowerCase()),
  );

/**
 * Lists the versions of an owner's packages, by package and newest first.
 *
 * @param condition On packages and their versions; all versions of a package are listed if one meets it.
 * @param sees Whether the caller may see a package.
 */
export async function listListings(
  { db }: Ctx,
  ownerId: number,
  condition: SQL | undefined,
  sees: RegistryView["sees"],
): Promise<Listing[]> {
  const isVersion = and(
    eq(packageVersions.ownerId, ownerId),
    eq(packageVersions.type, "nuget"),
    eq(packageVersions.isInternal, false),
  );
  const matching = db
    .select({ id: packages.id })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(isVersion, condition));
  const rows = await db
    .select({
      id: packages.id,
      repoId: packages.repoId,
      isRestricted: packages.isRestricted,
      name: packages.name,
      versionId: packageVersions.id,
      version: packageVersions.version,
      title: sql<string>`coalesce(${packageVersions.metadata} ->> '$.title', '')`,
      tags: sql<string>`coalesce(${packageVersions.metadata} ->> '$.tags', '')`,
      packageTypes: sql<string>`coalesce(
        ${packageVersions.metadata} ->> '$.packageTypes', '[]'
      )`,
      downloadCount: packageVersions.downloadCount,
      createdAt: packageVersions.createdAt,
    })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(isVersion, condition && inArray(packages.id, matching)))
    .orderBy(packages.nameKey, desc(packageVersions.id));
  const groups = Map.groupBy(rows.filter(sees), ({ id }) => id);
  return [...groups.values()].flatMap((versions) =>
    markLatest(
      versions.flatMap(({ id: packageId, version, ...row }) => {
        const parsed = parseNugetVersion(version);
        return parsed ? { packageId, version: parsed, ...row } : [];
      }),
    ),
  );
}

/** Sorts the versions of a package, newest first, and marks the latest ones. */
function markLatest(versions: Omit<Listing, "isLatest" | "isAbsoluteLatest">[]): Listing[] {
  const sorted = versions.toSorted((a, b) => compareNugetVersions(b.version, a.version));
  const latest = sorted.find(({ version }) => !isNugetPrerelease(version));
  return sorted.map((each) =>
    Object.assign(each, { isLatest: each === latest, isAbsoluteLatest: each === sorted[0] }),
  );
}

/** Which versions a client sees. */
export interface SeenVersions {
  readonly hasPrereleases: boolean;
  readonly hasSemVer2: boolean;
}

/** Keeps the versions that a client asked for; the packages that have none are gone. */
export const keepSeen = (
  listings: readonly Listing[],
  { hasPrereleases, hasSemVer2 }: SeenVersions,
): Listing[] =>
  listings.filter(
    ({ version }) =>
      (hasPrereleases || !isNugetPrerelease(version)) && (hasSemVer2 || !version.isSemVer2),
  );

/** The types of a package; one that names none is a dependency. */
export const typesOf = ({ packageTypes }: Pick<NugetMetadata, "packageTypes">): readonly string[] =>
  packageTypes.length > 0 ? packageTypes : ["Dependency"];

/** Whether a version is of a type, without regard to case. */
export const hasPackageType = ({ packageTypes }: Listing, type: string): boolean =>
  typesOf({ packageTypes: JSON.parse(packageTypes) as string[] }).some(
    (each) => each.toLowerCase() === type.toLowerCase(),
  );

/** A version with the content of its package. */
export interface StoredNupkg extends DetailedVersion {
  readonly sizeBytes: number;
  /** In hex. */
  readonly sha512: string;
}

/** Versions by their ids, in the order of these. */
export async function listStored(
  { db }: Ctx,
  versionIds: readonly number[],
): Promise<StoredNupkg[]> {
  const list = JSON.stringify(versionIds);
  const rows = await db
    .select({
      name: packages.name,
      row: packageVersions,
      sizeBytes: packageBlobs.sizeBytes,
      sha512: packageBlobs.sha512,
    })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .innerJoin(
      packageFiles,
      and(eq(packageFiles.versionId, packageVersions.id), eq(packageFiles.isLead, true)),
    )
    .innerJoin(packageBlobs, eq(packageBlobs.id, packageFiles.blobId))
    .innerJoin(
      sql`(select key as place, value as id from json_each(${list})) as listed`,
      sql`listed.id = ${packageVersions.id}`,
    )
    .orderBy(sql`listed.place`);
  return rows.flatMap(({ name, row, sizeBytes, sha512 }) => {
    const detailed = toDetailed(name, row);
    return detailed ? Object.assign(detailed, { sizeBytes, sha512 }) : [];
  });
}

/** A row as a version of a package of this name. @returns Undefined for a row of another format. */
function toDetailed(name: string, row: PackageVersion): DetailedVersion | undefined {
  const version = parseNugetVersion(row.version);
  return version && { id: name, row, version, metadata: row.metadata as NugetMetadata };
}

/** Versions of one package, oldest first. */
export const sortDetailed = (name: string, rows: readonly PackageVersion[]): DetailedVersion[] =>
  rows
    .flatMap((row) => toDetailed(name, row) ?? [])
    .toSorted((a, b) => compareNugetVersions(a.version, b.version));

/** The address of a version below a registry, as clients build it. */
export const pathOf = (id: string, version: NugetVersion): string =>
  `${id.toLowerCase()}/${nugetVersionKey(version)}`;
