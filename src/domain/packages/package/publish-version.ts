import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { isPackageInReach } from "../../../auth/access/credential-reach.ts";
import { refuseBound } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  packageBlobs,
  packageFiles,
  packageLooseFiles,
  packageProperties,
  packages,
  packageUsage,
  packageVersions,
  type Package,
  type PackageType,
  type PackageVersion,
} from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, type Failure, forbidden, notFound, tooLarge } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { mayStore, quotaExceeded } from "../../people/quotas/owner-quota.ts";
import type { PackageContext, PackageOwner } from "./find-package.ts";
import { isBlobNoted, type ReceivedBlob, withBlobs } from "./receive-blob.ts";

/** Maximum bytes of the metadata of a version or file, as JSON: a row of D1 has at most 2 MB. */
const METADATA_BYTES_MAX = 1024 * 1024;

/** A file to publish. */
export interface PublishedFile {
  /** Its content, received; or the id of a blob of this owner. */
  readonly blob: ReceivedBlob | number;
  readonly name: string;
  /** As the format compares file names; the name in lower case by default. */
  readonly nameKey?: string;
  readonly compositeKey?: string;
  readonly isLead?: boolean;
  readonly metadata?: unknown;
  readonly properties?: Readonly<Record<string, string>>;
}

/** A version to publish, or files to add to one. */
export interface Publication {
  readonly type: PackageType;
  readonly name: string;
  /** As the format compares names. */
  readonly nameKey: string;
  readonly version: string;
  /** As the format compares versions. */
  readonly versionKey: string;
  readonly metadata?: unknown;
  readonly isInternal?: boolean;
  readonly files: readonly PublishedFile[];
  /** Values of the package, each in the place of the one with its name. */
  readonly packageProperties?: Readonly<Record<string, string>>;
  readonly versionProperties?: Readonly<Record<string, string>>;
  /**
   * The effect on a version that exists: it is refused; the files are added; or its metadata is
   * replaced too.
   */
  readonly ifVersionExists: "refuse" | "add" | "update";
  /** The effect on a file that exists in it. */
  readonly ifFileExists?: "refuse" | "replace" | "keep";
  /** Statements of the same batch, before the version is inserted: the package is there. */
  readonly before?: (ids: PublishedIds) => readonly BatchItem<"sqlite">[];
  /** Statements at the end of the same batch, for what a format keeps beside the version. */
  readonly also?: (ids: PublishedIds) => readonly BatchItem<"sqlite">[];
  /** The refusal that a violation by these statements means. */
  readonly refusalOf?: (error: unknown) => Failure | undefined;
}

/** The ids of what is published, within its batch. */
export interface PublishedIds {
  readonly packageId: SQL<number>;
  readonly versionId: SQL<number>;
}

/** The published package and version. */
export interface Published {
  readonly pkg: Package;
  readonly version: PackageVersion;
}

/**
 * Publishes a version, or adds files to one, in one batch with its event: after it the version is
 * there whole, or nothing of it. The bytes of refused files are dropped.
 *
 * @param known The package as the request found it, undefined if it found none.
 * @throws Failure `conflict` for a version or file that exists; `forbidden` beyond the limits of
 * the owner; `too_large` for too much metadata; `not_found` for a package that the caller may not
 * see.
 */
export function publishVersion(
  ctx: Ctx,
  owner: PackageOwner,
  known: PackageContext | undefined,
  publication: Publication,
): Promise<Published> {
  const blobs = publication.files.flatMap(({ blob }) => (typeof blob === "number" ? [] : [blob]));
  return withBlobs(ctx, blobs, async () => {
    requireReach(ctx, owner, known, publication);
    requireBounded(publication);
    try {
      return await runBatch(ctx, owner, known, publication, blobs);
    } catch (error) {
      throw publication.refusalOf?.(error) ?? asRefusal(error) ?? error;
    }
  });
}

/**
 * SECURITY: a bound token publishes only what it is bound to. One bound to repositories creates no
 * package.
 */
function requireReach(
  { actor }: Ctx,
  { account }: PackageOwner,
  known: PackageContext | undefined,
  { type, name }: Publication,
): void {
  if (!isPackageInReach(actor, { owner: account.name, type, name })) {
    throw notFound("not found", "token-packages");
  }
  if (!known && actor.token?.isBound) refuseBound(actor);
}

function requireBounded({ metadata, files }: Publication): void {
  for (const each of [metadata, ...files.map((file) => file.metadata)]) {
    if (each === undefined) continue;
    const { length } = new TextEncoder().encode(JSON.stringify(each));
    if (length > METADATA_BYTES_MAX) {
      throw tooLarge(`the metadata has more than ${METADATA_BYTES_MAX} bytes`);
    }
  }
}

async function runBatch(
  ctx: Ctx,
  owner: PackageOwner,
  known: PackageContext | undefined,
  publication: Publication,
  blobs: readonly ReceivedBlob[],
): Promise<Published> {
  const { db } = ctx;
  const isPackage = packageIs(owner, publication);
  const isVersion = and(
    eq(packageVersions.packageId, idOfPackage(isPackage)),
    eq(packageVersions.versionKey, publication.versionKey),
  );
  const versionId = sql<number>`(
    select ${packageVersions.id}
    from ${packageVersions}
    where ${isVersion}
  )`;
  const ids = { packageId: idOfPackage(isPackage), versionId };
  const { pkgs, versions } = await batch(db, {
    pkg: insertPackage(ctx, owner, publication),
    changes: [
      ...(publication.before?.(ids) ?? []),
      ...insertVersion(ctx, owner, known, publication, isPackage, versionId),
      ...blobs.map((blob) => insertBlob(ctx, owner, blob)),
      ...publication.files.flatMap((file) => insertFile(ctx, owner, publication, file, versionId)),
      ...setProperties(ctx, publication, ids.packageId, versionId),
      dropNotes(ctx, blobs),
      ...(publication.also?.(ids) ?? []),
    ],
    pkgs: db.select().from(packages).where(isPackage),
    versions: db.select().from(packageVersions).where(isVersion),
  });
  return { pkg: only(pkgs), version: only(versions) };
}

const packageIs = ({ account }: PackageOwner, { type, nameKey }: Publication): SQL | undefined =>
  and(eq(packages.ownerId, account.id), eq(packages.type, type), eq(packages.nameKey, nameKey));

const idOfPackage = (isPackage: SQL | undefined): SQL<number> =>
  sql`(select ${packages.id} from ${packages} where ${isPackage})`;

const insertPackage = (
  { db, now }: Ctx,
  { account }: PackageOwner,
  { type, name, nameKey }: Publication,
) =>
  db
    .insert(packages)
    .values({ ownerId: account.id, type, name, nameKey, createdAt: now })
    .onConflictDoNothing();

/** Inserts the version with its event, within the owner's number of versions. */
function insertVersion(
  ctx: Ctx,
  { account }: PackageOwner,
  known: PackageContext | undefined,
  publication: Publication,
  isPackage: SQL | undefined,
  versionId: SQL<number>,
): BatchItem<"sqlite">[] {
  const { db, now, actor, config } = ctx;
  const { type, name, version, versionKey, metadata, isInternal = false } = publication;
  const used = sql`coalesce((
    select ${packageUsage.versionCount}
    from ${packageUsage}
    where ${packageUsage.ownerId} = ${account.id}
  ), 0)`;
  const max = config.packages.versionCountMax;
  const isWithin =
    max === Number.POSITIVE_INFINITY || isInternal
      ? sql`true`
      : sql`(${used} < ${max} or ${versionId} is not null)`;
  const row = {
    // SECURITY: nothing is published in a package that is linked to a repository which the caller
    // may not see.
    packageId: onlyWhile(
      sql`coalesce(${packages.repoId}, 0) in (0, ${known?.repo?.row.id ?? 0})`,
      sql`${packages.id}`,
    ),
    ownerId: account.id,
    type,
    version,
    versionKey,
    creatorId: actor.user?.id ?? null,
    isInternal,
    metadata: metadata ?? null,
    createdAt: onlyWhile(isWithin, now),
  };
  const insert = insertSelect(db, packageVersions, row, sql`from ${packages} where ${isPackage}`);
  const statements: BatchItem<"sqlite">[] = [
    publication.ifVersionExists === "refuse" ? insert : insert.onConflictDoNothing(),
  ];
  if (!isInternal) {
    statements.push(
      recordIfChanged(ctx, {
        type: "package.created",
        ownerId: account.id,
        repoId: sql`(select ${packages.repoId} from ${packages} where ${isPackage})`,
        packageId: idOfPackage(isPackage),
        versionId,
        packageType: type,
        name,
        version,
        creatorId: actor.user?.id ?? 0,
        publishedAt: now,
      }),
    );
  }
  if (publication.ifVersionExists === "update") {
    statements.push(
      db
        .update(packageVersions)
        .set({ metadata: metadata ?? null })
        .where(eq(packageVersions.id, versionId)),
    );
  }
  return statements;
}

/**
 * Inserts a blob, within the owner's size, unless the owner has the content already: that has the
 * digests then that only this one knows.
 */
function insertBlob(ctx: Ctx, { account }: PackageOwner, blob: ReceivedBlob) {
  const { db, now, config } = ctx;
  const used = sql`coalesce((
    select ${packageUsage.sizeBytes}
    from ${packageUsage}
    where ${packageUsage.ownerId} = ${account.id}
  ), 0)`;
  const max = config.packages.ownerBytesMax;
  const isStored = sql`exists (
    select 1
    from ${packageBlobs}
    where ${packageBlobs.ownerId} = ${account.id} and ${packageBlobs.sha256} = ${blob.sha256}
  )`;
  const isWithin =
    max === Number.POSITIVE_INFINITY
      ? sql`true`
      : sql`(${used} + ${blob.sizeBytes} <= ${max} or ${isStored})`;
  return db
    .insert(packageBlobs)
    .values({
      ...blob,
      ownerId: account.id,
      uuid: onlyWhile(isBlobNoted(blob.uuid), blob.uuid),
      sizeBytes: onlyWhile(
        sql`(${isStored} or ${mayStore(ctx, sql`${account.id}`, blob.sizeBytes)})`,
        blob.sizeBytes,
      ),
      createdAt: onlyWhile(isWithin, now),
    })
    .onConflictDoUpdate({
      target: [packageBlobs.ownerId, packageBlobs.sha256],
      set: { md5: blob.md5, sha1: blob.sha1, sha512: blob.sha512 },
      setWhere: sql`${packageBlobs.sha512} = '' and ${blob.sha512} <> ''`,
    });
}

function insertFile(
  { db, now }: Ctx,
  { account }: PackageOwner,
  { ifFileExists = "refuse" }: Publication,
  file: PublishedFile,
  versionId: SQL<number>,
): BatchItem<"sqlite">[] {
  const { blob, name, compositeKey = "", isLead = false, metadata, properties = {} } = file;
  const nameKey = file.nameKey ?? name.toLowerCase();
  const row = {
    versionId,
    blobId: sql`${packageBlobs.id}`,
    name,
    nameKey,
    compositeKey,
    isLead,
    metadata: metadata ?? null,
    createdAt: now,
  };
  const isBlob = and(
    // SECURITY: only contents of this owner.
    eq(packageBlobs.ownerId, account.id),
    typeof blob === "number" ? eq(packageBlobs.id, blob) : eq(packageBlobs.sha256, blob.sha256),
  );
  const isFile = and(
    eq(packageFiles.versionId, versionId),
    eq(packageFiles.nameKey, nameKey),
    eq(packageFiles.compositeKey, compositeKey),
  );
  const insert = insertSelect(db, packageFiles, row, sql`from ${packageBlobs} where ${isBlob}`);
  const setFileProperties = Object.entries(properties).map(([property, value]) =>
    insertSelect(
      db,
      packageProperties,
      {
        packageId: sql`${packageVersions.packageId}`,
        versionId: sql`${packageVersions.id}`,
        fileId: sql`${packageFiles.id}`,
        name: property,
        value,
      },
      sql`
        from ${packageFiles}
        join ${packageVersions} on ${packageVersions.id} = ${packageFiles.versionId}
        where ${isFile}`,
    ),
  );
  if (ifFileExists === "refuse") return [insert, ...setFileProperties];
  if (ifFileExists === "keep") return [insert.onConflictDoNothing(), ...setFileProperties];
  return [
    // The blob must not go with its last file and come again: the new file is there before the old
    // one goes.
    db
      .update(packageFiles)
      .set({ nameKey: sql`${packageFiles.nameKey} || char(0)` })
      .where(isFile),
    insert,
    ...setFileProperties,
    db
      .delete(packageFiles)
      .where(
        and(
          eq(packageFiles.versionId, versionId),
          eq(packageFiles.nameKey, sql`${nameKey} || char(0)`),
          eq(packageFiles.compositeKey, compositeKey),
        ),
      ),
  ];
}

function setProperties(
  { db }: Ctx,
  { packageProperties: ofPackage = {}, versionProperties: ofVersion = {} }: Publication,
  packageId: SQL<number>,
  versionId: SQL<number>,
): BatchItem<"sqlite">[] {
  const statements: BatchItem<"sqlite">[] = [];
  for (const [values, id] of [
    [ofPackage, null],
    [ofVersion, versionId],
  ] as const) {
    for (const [name, value] of Object.entries(values)) {
      const isSame = and(
        eq(packageProperties.packageId, packageId),
        eq(packageProperties.name, name),
        id === null
          ? sql`${packageProperties.versionId} is null`
          : eq(packageProperties.versionId, id),
        sql`${packageProperties.fileId} is null`,
      );
      statements.push(
        db.delete(packageProperties).where(isSame),
        db.insert(packageProperties).values({ packageId, versionId: id, name, value }),
      );
    }
  }
  return statements;
}

/** The statement that deletes the notes of bytes that a blob refers to now. */
function dropNotes({ db }: Ctx, blobs: readonly ReceivedBlob[]) {
  const list = JSON.stringify(blobs.map(({ uuid }) => uuid));
  return db.delete(packageLooseFiles).where(sql`${packageLooseFiles.uuid} in (
    select ${packageBlobs.uuid}
    from ${packageBlobs}
    where ${packageBlobs.uuid} in (select value from json_each(${list}))
  )`);
}

function asRefusal(error: unknown): Error | undefined {
  if (isViolation(error, "UNIQUE", "package_versions.package_id")) {
    return conflict("the version exists already");
  }
  if (isViolation(error, "UNIQUE", "package_files.version_id")) {
    return conflict("the file exists already");
  }
  if (isViolation(error, "NOT NULL", "package_versions.package_id")) return notFound();
  if (isViolation(error, "NOT NULL", "package_versions.created_at")) {
    return forbidden("the owner has as many versions of packages as the service allows");
  }
  if (isViolation(error, "NOT NULL", "package_blobs.size_bytes")) return quotaExceeded();
  if (isViolation(error, "NOT NULL", "package_blobs.created_at")) {
    return forbidden("the owner's packages would be larger than the service allows");
  }
  return undefined;
}
