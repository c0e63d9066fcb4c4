import { and, asc, desc, eq, inArray, or, type SQL, sql } from "drizzle-orm";

import { toCallerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import { packageFiles, packages, packageVersions } from "../../db/schema/index.ts";
import { type FileOfVersion, selectFiles } from "../../domain/packages/package/find-file.ts";
import {
  isOwnerNamed,
  type OwnerArgument,
  type PackageContext,
  selectPackages,
} from "../../domain/packages/package/find-package.ts";
import type { IndexedGem } from "./compact-index.ts";
import { compareGemVersions, gemVersionKey, isPrerelease } from "./gem-version.ts";
import { type GemSlug, slugKey } from "./names.ts";
import type { GemSpec } from "./parse-gemspec.ts";

/** The metadata stored with the file of a gem. */
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

/** Which gems are listed: those of a package, or of an owner. */
type GemFilter = { readonly packageId: number } | { readonly ownerId: number };

/** Lists the files of gems in the order of their publication. */
export const listGems = ({ db }: Ctx, filter: GemFilter): Promise<IndexedGemRow[]> =>
  gemFiles(db, filter).execute();

type GemArgument = {
  readonly packageId?: number;
  readonly ownerId?: number;
};

const isListed = ({ packageId, ownerId }: Params<GemArgument>): SQL =>
  allOf(
    packageId && eq(packageVersions.packageId, packageId),
    ownerId &&
      sql`${packageVersions.ownerId} = ${ownerId} and ${packageVersions.type} = 'rubygems'`,
    eq(packageVersions.isInternal, false),
  );

const gemFiles = prepare((db, filter: Params<GemArgument>) =>
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
    .where(isListed(filter))
    .orderBy(asc(packageFiles.id)),
);

/** The version of a gem's file. */
export const gemNumberOf = ({ file }: FileOfVersion): string =>
  (file.metadata as GemFileMetadata).spec.number;

/** A version of the gem of an id. */
type NumberedGem = Pick<IndexedGemRow, "id" | "number">;

/** The newest version of each gem: a release if there is one. Of equal ones it is the first. */
export function newestOf<Gem extends NumberedGem>(gems: readonly Gem[]): Gem[] {
  const newest = new Map<number, Gem>();
  for (const gem of gems) {
    const known = newest.get(gem.id);
    if (!known || isNewer(gem, known)) newest.set(gem.id, gem);
  }
  return [...newest.values()];
}

function isNewer({ number }: NumberedGem, { number: known }: NumberedGem): boolean {
  if (isPrerelease(number) !== isPrerelease(known)) return isPrerelease(known);
  return compareGemVersions(number, known) > 0;
}

/** Files by their ids, in the order of these. */
export const listFiles = ({ db }: Ctx, fileIds: readonly number[]): Promise<FileOfVersion[]> =>
  filesOfIds(db, { list: JSON.stringify(fileIds) }).execute();

const filesOfIds = prepare((db, { list }: Params<{ list: string }>) =>
  selectFiles(db)
    .innerJoin(
      sql`(select key as place, value as id from json_each(${list})) as listed`,
      sql`listed.id = ${packageFiles.id}`,
    )
    .orderBy(sql`listed.place`),
);

/** Lists the files of a gem, newest first. */
export const listFilesOf = ({ db }: Ctx, packageId: number): Promise<FileOfVersion[]> =>
  filesOfPackage(db, { packageId }).execute();

const filesOfPackage = prepare((db, { packageId }: Params<{ packageId: number }>) =>
  selectFiles(db).where(eq(packageVersions.packageId, packageId)).orderBy(desc(packageFiles.id)),
);

/**
 * Selects the packages of an owner by their names, with what decides whether the caller sees them.
 */
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
  const keys = readings.flatMap((slug): GemFileKey[] => {
    const gem = gems.find(({ row }) => row.nameKey === slug.name);
    if (!gem) return [];
    const { id: packageId } = gem.row;
    return [{ packageId, versionKey: gemVersionKey(slug.number), nameKey: slugKey(slug) }];
  });
  if (keys.length === 0) return undefined;
  const [found] = await fileOfKeys(db, { keys: Object.fromEntries(keys.entries()) });
  return found;
}

interface GemFileKey {
  readonly packageId: number;
  readonly versionKey: string;
  readonly nameKey: string;
}

/**
 * Selects a file that has one of the keys, by their places: few, since each is of another gem that
 * there is.
 */
const fileOfKeys = prepare((db, { keys }: Params<{ keys: Record<string, GemFileKey> }>) =>
  selectFiles(db)
    .where(
      or(
        ...Object.values(keys).map(({ packageId, versionKey, nameKey }) =>
          and(
            eq(packageVersions.packageId, packageId),
            eq(packageVersions.versionKey, versionKey),
            eq(packageFiles.nameKey, nameKey),
          ),
        ),
      ),
    )
    .limit(1),
);
