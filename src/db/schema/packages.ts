import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

import { users } from "./accounts.ts";
import type { PackageType } from "./package-types.ts";
import { repositories } from "./repositories.ts";

/** A package: a name in one format that belongs to an account. */
export const packages = sqliteTable(
  "packages",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    ownerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    type: text().$type<PackageType>().notNull(),
    /** As its first publisher spelled it. */
    name: text().notNull(),
    /** The name in the form in which the format compares names; unique within owner and type. */
    nameKey: text().notNull(),
    /** The repository it is linked to, one of the same owner. */
    repoId: integer().references(() => repositories.id, { onDelete: "set null" }),
    /**
     * Whether only those who may write the owner's packages see it while it is linked to no
     * repository: set by triggers when a private repository that it was linked to is deleted or
     * transferred.
     */
    isRestricted: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * Whether not all who see the owner see it: it is restricted, or linked to a repository whose
     * visibility is private. Maintained by triggers.
     */
    isConcealed: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * Counts the changes of what indexes show: versions, files, properties. Maintained by triggers.
     */
    revision: integer().notNull().default(0),
    /** The date of its indexes: see `packageRegistries.datedAt`. Maintained by triggers. */
    datedAt: integer().notNull().default(0),
    /** When the revision was last counted, in milliseconds. Maintained by triggers. */
    countedAt: integer().notNull().default(0),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("packages_name").on(table.ownerId, table.type, table.nameKey),
    index("packages_repository").on(table.repoId),
    // For the catalog of images, which spans owners.
    index("packages_type").on(table.type, table.ownerId),
    // For indexes over all packages of an owner: those that some of its readers do not see.
    index("packages_concealed")
      .on(table.ownerId, table.type)
      .where(sql`${table.isConcealed} = 1`),
  ],
);
export type Package = typeof packages.$inferSelect;

/** The versions of packages. */
export const packageVersions = sqliteTable(
  "package_versions",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    packageId: integer()
      .notNull()
      .references(() => packages.id, { onDelete: "cascade" }),
    /** Owner and type of its package, copied so that lists of an owner walk one index. */
    ownerId: integer().notNull(),
    type: text().$type<PackageType>().notNull(),
    /** As its publisher spelled it. */
    version: text().notNull(),
    /** In the form in which the format compares versions; unique within the package. */
    versionKey: text().notNull(),
    /** Null if the account was deleted. */
    creatorId: integer().references(() => users.id, { onDelete: "set null" }),
    /**
     * Holds files that belong to no version that anybody sees, such as blobs of an image that no
     * manifest names yet.
     */
    isInternal: integer({ mode: "boolean" }).notNull().default(false),
    /** Whether the format hides it from those who do not ask for exactly this version. */
    isYanked: integer({ mode: "boolean" }).notNull().default(false),
    /**
     * The format's metadata of it, in the format's own shape. At most 1 MB, see
     * `METADATA_BYTES_MAX`.
     */
    metadata: text({ mode: "json" }).$type<unknown>(),
    downloadCount: integer().notNull().default(0),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("package_versions_version").on(table.packageId, table.versionKey),
    // For the lists of an owner, newest first.
    index("package_versions_owner").on(table.ownerId, table.isInternal, table.id),
    index("package_versions_owner_type").on(table.ownerId, table.type, table.isInternal, table.id),
    index("package_versions_newest").on(table.packageId, table.id),
    index("package_versions_creator").on(table.creatorId),
    // For the sweep of files that no version names.
    index("package_versions_internal")
      .on(table.type, table.id)
      .where(sql`${table.isInternal} = 1`),
  ],
);
export type PackageVersion = typeof packageVersions.$inferSelect;

/** Contents that an owner has stored, each once. A trigger deletes one with its last file. */
export const packageBlobs = sqliteTable(
  "package_blobs",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    ownerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Names the bytes in the object storage. */
    uuid: text().notNull(),
    sizeBytes: integer().notNull(),
    /**
     * Digests in lower-case hex. Blobs of images that nothing has named by another digest have
     * SHA-256 alone, and "" for the others.
     */
    md5: text().notNull(),
    sha1: text().notNull(),
    sha256: text().notNull(),
    sha512: text().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("package_blobs_sha256").on(table.ownerId, table.sha256),
    // For images, whose contents have either digest.
    index("package_blobs_sha512").on(table.ownerId, table.sha512),
    uniqueIndex("package_blobs_uuid").on(table.uuid),
  ],
);
export type PackageBlob = typeof packageBlobs.$inferSelect;

/** The files of versions. */
export const packageFiles = sqliteTable(
  "package_files",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    versionId: integer()
      .notNull()
      .references(() => packageVersions.id, { onDelete: "cascade" }),
    blobId: integer()
      .notNull()
      .references(() => packageBlobs.id),
    name: text().notNull(),
    /** The name in the form in which the format compares file names. */
    nameKey: text().notNull(),
    /**
     * Distinguishes files of one name, such as those of several distributions; "" where the format
     * has no such files.
     */
    compositeKey: text().notNull().default(""),
    /**
     * Whether it is the file that the version is about, beside signatures, symbols and the like.
     */
    isLead: integer({ mode: "boolean" }).notNull().default(false),
    /** The format's metadata of the file, in the format's own shape. */
    metadata: text({ mode: "json" }).$type<unknown>(),
    createdAt: integer().notNull(),
  },
  (table) => [
    uniqueIndex("package_files_name").on(table.versionId, table.nameKey, table.compositeKey),
    index("package_files_blob").on(table.blobId),
  ],
);
export type PackageFile = typeof packageFiles.$inferSelect;

/**
 * Named values of a package, of one of its versions, or of a file of one, for what a format looks
 * up.
 */
export const packageProperties = sqliteTable(
  "package_properties",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    packageId: integer()
      .notNull()
      .references(() => packages.id, { onDelete: "cascade" }),
    versionId: integer().references(() => packageVersions.id, { onDelete: "cascade" }),
    fileId: integer().references(() => packageFiles.id, { onDelete: "cascade" }),
    /** Begins with the type, as in `npm.tag`. */
    name: text().notNull(),
    value: text().notNull(),
  },
  (table) => [
    index("package_properties_package").on(table.packageId, table.name, table.value),
    index("package_properties_version")
      .on(table.versionId, table.name)
      .where(sql`${table.versionId} is not null`),
    index("package_properties_file")
      .on(table.fileId, table.name)
      .where(sql`${table.fileId} is not null`),
  ],
);
export type PackageProperty = typeof packageProperties.$inferSelect;

/**
 * One format of one owner: the revision of the indexes over all of its packages, and the key that
 * signs them.
 */
export const packageRegistries = sqliteTable(
  "package_registries",
  {
    ownerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    type: text().$type<PackageType>().notNull(),
    /** Counts the changes of its packages. Maintained by triggers. */
    revision: integer().notNull().default(0),
    /**
     * When the revision was last counted, in milliseconds, whole seconds. It never goes back.
     * Maintained by a trigger.
     */
    changedAt: integer().notNull().default(0),
    /**
     * The same two of the packages that are not concealed, for readers who see only these.
     * Maintained by triggers.
     */
    publicRevision: integer().notNull().default(0),
    publicChangedAt: integer().notNull().default(0),
    /**
     * The date of its indexes, in milliseconds, whole seconds: for clients that know what they have
     * by its date alone. It is that of the last change, but a change in the second of the change
     * before has the next second. Maintained by triggers.
     */
    datedAt: integer().notNull().default(0),
    /** The same of the packages that are not concealed; 0 without such packages. */
    publicDatedAt: integer().notNull().default(0),
    /** When the revision was last counted, in milliseconds. Maintained by triggers. */
    countedAt: integer().notNull().default(0),
    /** The armored public key; "" until an index is signed for the first time. */
    publicKey: text().notNull().default(""),
    /** The private key, sealed. */
    sealedKey: text().notNull().default(""),
  },
  (table) => [primaryKey({ columns: [table.ownerId, table.type] })],
);
export type PackageRegistry = typeof packageRegistries.$inferSelect;

/** The storage that the packages of an owner use. Maintained by triggers. */
export const packageUsage = sqliteTable(
  "package_usage",
  {
    ownerId: integer()
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    sizeBytes: integer().notNull().default(0),
    /** Versions that somebody sees. */
    versionCount: integer().notNull().default(0),
  },
  (table) => [index("package_usage_size").on(table.sizeBytes)],
);

/**
 * Files in the object storage without a blob: of uploads that did not end, and of deleted blobs.
 */
export const packageLooseFiles = sqliteTable(
  "package_loose_files",
  {
    uuid: text().primaryKey(),
    /**
     * From this time on no blob may refer to the file, and it is due for removal; in milliseconds.
     */
    expiresAt: integer().notNull(),
  },
  (table) => [index("package_loose_files_expiry").on(table.expiresAt)],
);

/** An owner's rule of which versions of one format are deleted by the schedule. */
export const packageCleanupRules = sqliteTable(
  "package_cleanup_rules",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    ownerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    type: text().$type<PackageType>().notNull(),
    isEnabled: integer({ mode: "boolean" }).notNull(),
    /** The newest versions of each package that stay; 0 keeps none for their age. */
    keepCount: integer().notNull(),
    /** A regular expression for versions that stay; "" for none. */
    keepPattern: text().notNull(),
    /** Versions older than this many days go; 0 for any age. */
    removeDays: integer().notNull(),
    /** A regular expression for versions that go; "" for all. */
    removePattern: text().notNull(),
    /** Whether the patterns match `name/version`, not only the version. */
    matchesFullName: integer({ mode: "boolean" }).notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /** When the schedule looks at it again, in milliseconds. */
    nextRunAt: integer().notNull(),
    /** The id of the package up to which the present run has come; 0 between runs. */
    reachedPackageId: integer().notNull().default(0),
  },
  (table) => [
    uniqueIndex("package_cleanup_rules_type").on(table.ownerId, table.type),
    index("package_cleanup_rules_due").on(table.isEnabled, table.nextRunAt),
  ],
);
export type PackageCleanupRule = typeof packageCleanupRules.$inferSelect;

/**
 * Uploads that go on over several requests. Their parts are in the object storage under the uuid.
 */
export const packageUploads = sqliteTable(
  "package_uploads",
  {
    uuid: text().primaryKey(),
    ownerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    type: text().$type<PackageType>().notNull(),
    /** The package that the upload is for. */
    nameKey: text().notNull(),
    creatorId: integer()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    receivedBytes: integer().notNull().default(0),
    /** The multipart upload of the object storage with its parts, in the format's own shape. */
    state: text({ mode: "json" }).$type<unknown>(),
    createdAt: integer().notNull(),
    /** When it is given up, in milliseconds. */
    expiresAt: integer().notNull(),
  },
  (table) => [
    index("package_uploads_expiry").on(table.expiresAt),
    index("package_uploads_owner").on(table.ownerId),
    index("package_uploads_creator").on(table.creatorId),
  ],
);
export type PackageUpload = typeof packageUploads.$inferSelect;
