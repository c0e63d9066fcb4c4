import { and, desc, eq, inArray, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import type { Database } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import {
  packageBlobs,
  packageFiles,
  packages,
  packageVersions,
  type PackageVersion,
} from "../../db/schema/index.ts";
import type { RegistryView } from "../../domain/packages/package/find-registry.ts";
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
  /** The rest of it, where it was read with the list. */
  readonly stored?: StoredNupkg;
}

/** A version with everything that the documents show of it. */
export interface DetailedVersion {
  readonly id: string;
  readonly row: PackageVersion;
  readonly version: NugetVersion;
  readonly metadata: NugetMetadata;
}

/** The columns that decide whether a caller sees a package of an owner. */
const SEEN_PACKAGE = {
  id: packages.id,
  name: packages.name,
  repoId: packages.repoId,
  isRestricted: packages.isRestricted,
  isConcealed: packages.isConcealed,
};

/** Whether the caller may see a package. */
type SeesPackage = RegistryView["sees"];

/** Maximum number of words of a search. */
const TERMS_MAX = 10;
const SEARCHED = ["title", "tags", "description"];

/** The filter of a search, in lower case. */
interface ListingFilter {
  /** Words by their places: each is in the package or a version. */
  readonly terms: Readonly<Record<string, string>>;
  /** The id of a package. */
  readonly id: string | undefined;
}

/** The condition that a version of a package matches all words of a search. */
function matchesSearch(terms: Params<ListingFilter>["terms"]): SQL | undefined {
  const metadata = sql.join(
    SEARCHED.map((field) => sql`coalesce(${packageVersions.metadata} ->> ${`$.${field}`}, '')`),
    sql` || ' ' || `,
  );
  return and(
    ...Object.values(terms).map(
      (term) => sql`instr(lower(${packages.name} || ' ' || ${metadata}), ${term}) > 0`,
    ),
  );
}

/**
 * Lists the versions of an owner's packages that match a search, by package and newest first. All
 * versions of a package are listed if one matches.
 *
 * @param id The id of the package, where only one is searched.
 */
export async function listListings(
  { db }: Ctx,
  ownerId: number,
  { text, id }: { readonly text: string; readonly id?: string },
  sees: SeesPackage,
): Promise<Listing[]> {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, TERMS_MAX);
  const rows = await listedVersions(db, {
    ownerId,
    terms: Object.fromEntries(terms.entries()),
    id: id?.toLowerCase(),
  });
  const groups = Map.groupBy(
    rows.filter(({ pkg }) => sees(pkg)),
    ({ pkg }) => pkg.id,
  );
  return [...groups.values()].flatMap((versions) =>
    markLatest(
      versions.flatMap(({ pkg, version, ...row }) => {
        const parsed = parseNugetVersion(version);
        const { id: packageId, name } = pkg;
        return parsed ? { packageId, name, version: parsed, ...row } : [];
      }),
    ),
  );
}

const listedVersions = prepare((db, p: Params<{ ownerId: number } & ListingFilter>) => {
  const isVersion = and(
    eq(packageVersions.ownerId, p.ownerId),
    eq(packageVersions.type, "nuget"),
    eq(packageVersions.isInternal, false),
  );
  const condition = and(matchesSearch(p.terms), p.id && eq(packages.nameKey, p.id));
  const matching = db
    .select({ id: packages.id })
    .from(packageVersions)
    .innerJoin(packages, eq(packages.id, packageVersions.packageId))
    .where(and(isVersion, condition));
  return db
    .select({
      pkg: SEEN_PACKAGE,
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
});

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
  const rows = await storedOfIds(db, { list: JSON.stringify(versionIds) });
  return rows.flatMap((row) => toStored(row) ?? []);
}

const storedOfIds = prepare((db, { list }: Params<{ list: string }>) =>
  selectStored(db)
    .innerJoin(
      sql`(select key as place, value as id from json_each(${list})) as listed`,
      sql`listed.id = ${packageVersions.id}`,
    )
    .orderBy(sql`listed.place`),
);

/**
 * Lists the versions of one package with the rest of them, newest first; none if the caller may not
 * see it.
 */
export async function listStoredListings(
  { db }: Ctx,
  ownerId: number,
  id: string,
  sees: SeesPackage,
): Promise<Listing[]> {
  const rows = await storedOfPackage(db, { ownerId, id: id.toLowerCase() });
  return markLatest(
    rows.flatMap((each) => {
      const { pkg, row } = each;
      const stored = toStored(each);
      if (!stored || !sees(pkg)) return [];
      const { title, tags, packageTypes } = stored.metadata;
      return {
        packageId: pkg.id,
        name: pkg.name,
        versionId: row.id,
        version: stored.version,
        title,
        tags,
        packageTypes: JSON.stringify(packageTypes),
        downloadCount: row.downloadCount,
        createdAt: row.createdAt,
        stored,
      };
    }),
  );
}

const storedOfPackage = prepare((db, { ownerId, id }: Params<{ ownerId: number; id: string }>) =>
  selectStored(db).where(
    and(eq(packages.ownerId, ownerId), eq(packages.type, "nuget"), eq(packages.nameKey, id)),
  ),
);

const selectStored = (db: Database) =>
  db
    .select({
      pkg: SEEN_PACKAGE,
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
    .$dynamic();

function toStored({
  pkg,
  row,
  sizeBytes,
  sha512,
}: Awaited<ReturnType<typeof selectStored>>[number]): StoredNupkg | undefined {
  const detailed = toDetailed(pkg.name, row);
  return detailed && { ...detailed, sizeBytes, sha512 };
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
