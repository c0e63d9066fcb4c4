import { eq, sql } from "drizzle-orm";

import {
  packageBlobs,
  packageCleanupRules,
  packageFiles,
  packages,
  packageVersions,
  type Package,
  type PackageCleanupRule,
  type PackageType,
  type PackageVersion,
  type User,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { freshName } from "./make.ts";

/** A package with its versions, oldest first, and its owner's name. */
export interface TestPackage extends Package {
  owner: string;
  versions: PackageVersion[];
}

/** What is set for a package; everything has a default. */
interface PackageOptions {
  type?: PackageType;
  name?: string;
  repoId?: number;
  isRestricted?: boolean;
  /** Names of versions, oldest first. */
  versions?: readonly string[];
  creatorId?: number | null;
  /** When the versions were published, in milliseconds. */
  createdAt?: number;
}

/** Inserts a package whose versions have a file each, without bytes in the object storage. */
export async function makePackage(
  owner: Pick<User, "id" | "name">,
  {
    type = "generic",
    name = freshName("pkg"),
    repoId,
    isRestricted = false,
    versions = ["1.0"],
    creatorId = owner.id,
    createdAt = 1000,
  }: PackageOptions = {},
): Promise<TestPackage> {
  const ownerId = owner.id;
  const nameKey = name.toLowerCase();
  const pkg = only(
    await db
      .insert(packages)
      .values({ ownerId, type, name, nameKey, isRestricted, createdAt, ...(repoId && { repoId }) })
      .returning(),
  );
  const made: PackageVersion[] = [];
  for (const version of versions) {
    const row = { packageId: pkg.id, ownerId, type, version, versionKey: version };
    const [rows] = await db.batch([
      db
        .insert(packageVersions)
        .values({ ...row, creatorId, createdAt })
        .returning(),
      ...insertTestFile(ownerId, pkg.id, version, createdAt),
    ]);
    made.push(only(rows));
  }
  return { ...pkg, owner: owner.name, versions: made };
}

function insertTestFile(ownerId: number, packageId: number, version: string, createdAt: number) {
  const uuid = crypto.randomUUID();
  const digest = uuid.replaceAll("-", "");
  const digests = { md5: digest, sha1: digest, sha256: digest, sha512: digest };
  const file = `${version}.bin`;
  return [
    db.insert(packageBlobs).values({ ownerId, uuid, sizeBytes: 7, ...digests, createdAt }),
    db.insert(packageFiles).values({
      versionId: sql`(
        select id from package_versions where package_id = ${packageId} and version = ${version}
      )`,
      blobId: sql`(select id from package_blobs where uuid = ${uuid})`,
      name: file,
      nameKey: file,
      isLead: true,
      createdAt,
    }),
  ] as const;
}

/** Inserts a rule that removes everything, but for what is set. */
export const makeCleanupRule = async (
  { id: ownerId }: Pick<User, "id">,
  fields: Partial<PackageCleanupRule> = {},
): Promise<PackageCleanupRule> =>
  only(
    await db
      .insert(packageCleanupRules)
      .values({
        ownerId,
        type: "generic",
        isEnabled: true,
        keepCount: 0,
        keepPattern: "",
        removeDays: 0,
        removePattern: "",
        matchesFullName: false,
        createdAt: 1000,
        updatedAt: 1000,
        nextRunAt: 1000,
        ...fields,
      })
      .returning(),
  );

/** The names of the versions that a package has, newest first. */
export const versionsOf = async (packageId: number): Promise<string[]> =>
  (
    await db
      .select({ version: packageVersions.version })
      .from(packageVersions)
      .where(eq(packageVersions.packageId, packageId))
      .orderBy(sql`${packageVersions.id} desc`)
  ).map(({ version }) => version);
