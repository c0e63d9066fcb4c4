import { and, eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { isPackageInReach } from "../../../auth/access/credential-reach.ts";
import { refuseBound } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { COMPUTED } from "../../../db/json-of.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  events,
  packageBlobs,
  packageFiles,
  packageLooseFiles,
  packageProperties,
  packages,
  packageUsage,
  packageVersions,
  type PackageType,
} from "../../../db/schema/index.ts";
import {
  type EventArgument,
  IF_CHANGED,
  recordBy,
  unnotedArgument,
} from "../../../events/record.ts";
import { conflict, type Failure, forbidden, notFound, tooLarge } from "../../../lib/failure.ts";
import { mayStore, quotaExceeded } from "../../people/quotas/owner-quota.ts";
import type { PackageContext, PackageKey, PackageOwner } from "./find-package.ts";
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
  readonly before?: (key: PublishedKey) => readonly BatchItem<"sqlite">[];
  /** Statements at the end of the same batch, for what a format keeps beside the version. */
  readonly also?: (key: PublishedKey) => readonly BatchItem<"sqlite">[];
  /** The refusal that a violation by these statements means. */
  readonly refusalOf?: (error: unknown) => Failure | undefined;
}

/** What the statements of a batch find its package and version by, as they insert these. */
export interface PublishedKey extends PackageKey {
  readonly ownerId: number;
  readonly versionKey: string;
}

/** Each value as itself, or as the parameter of a prepared query. */
type OrSlots<T> = { readonly [K in keyof T]: T[K] | SQL };

const packageIs = ({ ownerId, type, nameKey }: OrSlots<Omit<PublishedKey, "versionKey">>): SQL =>
  sql`${packages.ownerId} = ${ownerId} and ${packages.type} = ${type}
    and ${packages.nameKey} = ${nameKey}`;

/** The id of the published package, within its batch. */
export const publishedPackageId = (key: OrSlots<Omit<PublishedKey, "versionKey">>): SQL<number> =>
  sql`(select ${packages.id} from ${packages} where ${packageIs(key)})`;

/** The id of the published version, within its batch. */
export const publishedVersionId = (key: OrSlots<PublishedKey>): SQL<number> => sql`(
  select ${packageVersions.id}
  from ${packageVersions}
  where ${packageVersions.packageId} = ${publishedPackageId(key)}
    and ${packageVersions.versionKey} = ${key.versionKey}
)`;

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
): Promise<void> {
  const blobs = publication.files.flatMap(({ blob }) => (typeof blob === "number" ? [] : [blob]));
  return withBlobs(ctx, blobs, async () => {
    requireReach(ctx, owner, known, publication);
    const { type, name, nameKey, versionKey } = publication;
    const key: PublishedKey = { ownerId: owner.account.id, type, nameKey, versionKey };
    const uuids = blobs.map(({ uuid }) => uuid);
    try {
      const { events: recorded = [] } = await batch(ctx.db, {
        pkg: insertPackage(ctx.db, { key, name, now: ctx.now }),
        before: publication.before?.(key),
        ...versionStatements(ctx, known, publication, key),
        blobs: blobs.map((blob) => insertBlob(ctx.db, blobArgument(ctx, key, blob))),
        files: publication.files.flatMap((file) => fileStatements(ctx, publication, key, file)),
        properties: propertyStatements(ctx, publication, key),
        notes: blobs.length > 0 ? dropNotes(ctx.db, { uuids }) : undefined,
        also: publication.also?.(key),
      });
      if (recorded.some(({ isDue }) => isDue)) ctx.eventQueues.noteRecorded();
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

/** The JSON of metadata, as its column has it. @throws Failure `too_large` */
function toJson(metadata: unknown): string | null {
  if (metadata === undefined || metadata === null) return null;
  const json = JSON.stringify(metadata);
  if (new TextEncoder().encode(json).length <= METADATA_BYTES_MAX) return json;
  throw tooLarge(`the metadata has more than ${METADATA_BYTES_MAX} bytes`);
}

const insertPackage = prepare(
  (db, { key, name, now }: Params<{ key: PublishedKey; name: string; now: number }>) => {
    const { ownerId, type, nameKey } = key;
    return db
      .insert(packages)
      .values({ ownerId, type, name, nameKey, createdAt: now })
      .onConflictDoNothing();
  },
);

/** The statements for the version with its event, within the owner's number of versions. */
function versionStatements(
  ctx: Ctx,
  known: PackageContext | undefined,
  publication: Publication,
  key: PublishedKey,
) {
  const { db, now, actor, config } = ctx;
  const { name, version, isInternal = false, ifVersionExists } = publication;
  const { versionCountMax } = config.packages;
  const creatorId = actor.user?.id ?? null;
  const metadata = toJson(publication.metadata);
  return {
    version: insertVersion(db, {
      key,
      version,
      metadata,
      creatorId,
      isInternal,
      mayExist: ifVersionExists !== "refuse",
      countMax: isInternal || versionCountMax === Infinity ? undefined : versionCountMax,
      repoId: known?.repo?.row.id ?? 0,
      now,
    }),
    events: isInternal
      ? undefined
      : recordPublished(db, {
          key,
          event: unnotedArgument(ctx, {
            type: "package.created",
            ownerId: key.ownerId,
            repoId: COMPUTED,
            packageId: COMPUTED,
            versionId: COMPUTED,
            packageType: key.type,
            name,
            version,
            creatorId: creatorId ?? 0,
            publishedAt: now,
          }),
          isForwarded: ctx.eventQueues.isForwarding,
        }),
    metadata: ifVersionExists === "update" ? updateMetadata(db, { key, metadata }) : undefined,
  };
}

interface InsertedVersion {
  readonly key: PublishedKey;
  readonly version: string;
  /** JSON. */
  readonly metadata: string | null;
  readonly creatorId: number | null;
  readonly isInternal: boolean;
  readonly mayExist: boolean;
  /** Versions that the owner may have; undefined for any number. */
  readonly countMax: number | undefined;
  /** The repository of the package, as the request found it; 0 for none. */
  readonly repoId: number;
  readonly now: number;
}

const insertVersion = prepare((db, p: Params<InsertedVersion>) => {
  const { key, countMax, now } = p;
  const { ownerId, type, versionKey } = key;
  const used = sql`coalesce((
    select ${packageUsage.versionCount}
    from ${packageUsage}
    where ${packageUsage.ownerId} = ${ownerId}
  ), 0)`;
  const isWithin =
    countMax && sql`(${used} < ${countMax} or ${publishedVersionId(key)} is not null)`;
  const row = {
    // SECURITY: nothing is published in a package that is linked to a repository which the caller
    // may not see.
    packageId: onlyWhile(
      sql`coalesce(${packages.repoId}, 0) in (0, ${p.repoId})`,
      sql`${packages.id}`,
    ),
    ownerId,
    type,
    version: p.version,
    versionKey,
    creatorId: p.creatorId,
    isInternal: p.isInternal,
    metadata: p.metadata,
    createdAt: isWithin ? onlyWhile(isWithin, now) : now,
  };
  const insert = insertSelect(
    db,
    packageVersions,
    row,
    sql`from ${packages} where ${packageIs(key)}`,
  );
  return p.mayExist ? insert.onConflictDoNothing() : insert;
});

interface RecordedPublication {
  readonly key: PublishedKey;
  readonly event: EventArgument;
  /** Whether the operator's queue receives all events. */
  readonly isForwarded: boolean;
}

/** Returns whether something is due: nothing follows from a package that has no repository. */
const recordPublished = prepare((db, p: Params<RecordedPublication>) => {
  const { key, event, isForwarded } = p;
  const repoId = sql`(select ${packages.repoId} from ${packages} where ${packageIs(key)})`;
  const ids = { packageId: publishedPackageId(key), versionId: publishedVersionId(key) };
  const consequencesAt = sql`iif(${repoId} is null, null, ${event.consequencesAt})`;
  const isDue = isForwarded
    ? sql`1`
    : sql`${events.dispatchAt} is not null or ${events.consequencesAt} is not null`;
  return recordBy(db, { ...event, consequencesAt }, { repoId, ...ids }, IF_CHANGED).returning({
    isDue: isDue.mapWith(Boolean).as("is_due"),
  });
});

const updateMetadata = prepare(
  (db, { key, metadata }: Params<{ key: PublishedKey; metadata: string | null }>) =>
    db
      .update(packageVersions)
      .set({ metadata })
      .where(sql`${packageVersions.id} = ${publishedVersionId(key)}`),
);

interface InsertedBlob {
  readonly ownerId: number;
  readonly blob: ReceivedBlob;
  /** Bytes that all packages of the owner may have; undefined for any number. */
  readonly packagesBytesMax: number | undefined;
  /** Those of the service's configuration for everything that an owner stores. */
  readonly ownerBytesMax: number;
  readonly now: number;
}

function blobArgument({ now, config }: Ctx, { ownerId }: PublishedKey, given: ReceivedBlob) {
  const { uuid, sizeBytes, md5, sha1, sha256, sha512 } = given;
  const { ownerBytesMax: max } = config.packages;
  return {
    ownerId,
    blob: { uuid, sizeBytes, md5, sha1, sha256, sha512 },
    packagesBytesMax: max === Infinity ? undefined : max,
    ownerBytesMax: config.ownerBytesMax,
    now,
  };
}

/**
 * Inserts a blob, within the owner's size, unless the owner has the content already: that has the
 * digests then that only this one knows.
 */
const insertBlob = prepare((db, p: Params<InsertedBlob>) => {
  const { ownerId, blob, packagesBytesMax, now } = p;
  const { uuid, sizeBytes, md5, sha1, sha256, sha512 } = blob;
  const used = sql`coalesce((
    select ${packageUsage.sizeBytes}
    from ${packageUsage}
    where ${packageUsage.ownerId} = ${ownerId}
  ), 0)`;
  const isStored = sql`exists (
    select 1
    from ${packageBlobs}
    where ${packageBlobs.ownerId} = ${ownerId} and ${packageBlobs.sha256} = ${sha256}
  )`;
  const isWithin =
    packagesBytesMax && sql`(${used} + ${sizeBytes} <= ${packagesBytesMax} or ${isStored})`;
  return db
    .insert(packageBlobs)
    .values({
      ownerId,
      md5,
      sha1,
      sha256,
      sha512,
      uuid: onlyWhile(isBlobNoted(uuid), uuid),
      sizeBytes: onlyWhile(
        sql`(${isStored} or ${mayStore({ config: p }, sql`${ownerId}`, sizeBytes)})`,
        sizeBytes,
      ),
      createdAt: isWithin ? onlyWhile(isWithin, now) : now,
    })
    .onConflictDoUpdate({
      target: [packageBlobs.ownerId, packageBlobs.sha256],
      set: { md5, sha1, sha512 },
      setWhere: sql`${packageBlobs.sha512} = '' and ${sha512} <> ''`,
    });
});

function fileStatements(
  { db, now }: Ctx,
  { ifFileExists = "refuse" }: Publication,
  key: PublishedKey,
  { blob, name, isLead = false, properties = {}, ...file }: PublishedFile,
): BatchItem<"sqlite">[] {
  const { nameKey = name.toLowerCase(), compositeKey = "" } = file;
  const fileKey = { nameKey, compositeKey };
  const content = typeof blob === "number" ? { blobId: blob } : { sha256: blob.sha256 };
  const metadata = toJson(file.metadata);
  return [
    ...insertFile(db, { key, fileKey, content, name, isLead, metadata, now }, ifFileExists),
    ...Object.entries(properties).map(([property, value]) =>
      insertFileProperty(db, { key, fileKey, name: property, value }),
    ),
  ];
}

/** The key of a file in its version. */
interface PublishedFileKey {
  readonly nameKey: string;
  readonly compositeKey: string;
}

interface InsertedFile {
  readonly key: PublishedKey;
  readonly fileKey: PublishedFileKey;
  /** A blob of the owner, by its id or its digest. */
  readonly content: { readonly blobId?: number; readonly sha256?: string };
  readonly name: string;
  readonly isLead: boolean;
  /** JSON. */
  readonly metadata: string | null;
  readonly now: number;
}

const fileIs = (key: Params<PublishedKey>, { nameKey, compositeKey }: OrSlots<PublishedFileKey>) =>
  sql`${packageFiles.versionId} = ${publishedVersionId(key)}
    and ${packageFiles.nameKey} = ${nameKey} and ${packageFiles.compositeKey} = ${compositeKey}`;

const insertFile = prepareAll(
  (
    db,
    { key, fileKey, content, ...p }: Params<InsertedFile>,
    ifExists: NonNullable<Publication["ifFileExists"]>,
  ): readonly BatchItem<"sqlite">[] => {
    // SECURITY: only contents of this owner.
    const isBlob = and(
      eq(packageBlobs.ownerId, key.ownerId),
      content.blobId && eq(packageBlobs.id, content.blobId),
      content.sha256 && eq(packageBlobs.sha256, content.sha256),
    );
    const insert = insertSelect(
      db,
      packageFiles,
      {
        versionId: publishedVersionId(key),
        blobId: sql`${packageBlobs.id}`,
        name: p.name,
        ...fileKey,
        isLead: p.isLead,
        metadata: p.metadata,
        createdAt: p.now,
      },
      sql`from ${packageBlobs} where ${isBlob}`,
    );
    if (ifExists === "refuse") return [insert];
    if (ifExists === "keep") return [insert.onConflictDoNothing()];
    const formerKey = sql`${fileKey.nameKey} || char(0)`;
    return [
      // The blob must not go with its last file and come again: the new file is there before the
      // old one goes.
      db.update(packageFiles).set({ nameKey: formerKey }).where(fileIs(key, fileKey)),
      insert,
      db.delete(packageFiles).where(fileIs(key, { ...fileKey, nameKey: formerKey })),
    ];
  },
);

interface InsertedProperty {
  readonly key: PublishedKey;
  readonly name: string;
  readonly value: string;
}

const insertFileProperty = prepare(
  (db, p: Params<InsertedProperty & { fileKey: PublishedFileKey }>) =>
    insertSelect(
      db,
      packageProperties,
      {
        packageId: sql`${packageVersions.packageId}`,
        versionId: sql`${packageVersions.id}`,
        fileId: sql`${packageFiles.id}`,
        name: p.name,
        value: p.value,
      },
      sql`
        from ${packageFiles}
        join ${packageVersions} on ${packageVersions.id} = ${packageFiles.versionId}
        where ${fileIs(p.key, p.fileKey)}`,
    ),
);

function propertyStatements(
  { db }: Ctx,
  { packageProperties: ofPackage = {}, versionProperties: ofVersion = {} }: Publication,
  key: PublishedKey,
): BatchItem<"sqlite">[] {
  const set = (isOfVersion: boolean, values: Readonly<Record<string, string>>) =>
    Object.entries(values).flatMap(([name, value]) =>
      setProperty(db, { key, isOfVersion, name, value }),
    );
  return [...set(false, ofPackage), ...set(true, ofVersion)];
}

const setProperty = prepareAll((db, p: Params<InsertedProperty & { isOfVersion: boolean }>) => {
  const { key, name, value } = p;
  const packageId = publishedPackageId(key);
  const versionId = p.isOfVersion ? publishedVersionId(key) : sql`null`;
  const isSame = and(
    eq(packageProperties.packageId, packageId),
    eq(packageProperties.name, name),
    sql`${packageProperties.versionId} is ${versionId}`,
    sql`${packageProperties.fileId} is null`,
  );
  return [
    db.delete(packageProperties).where(isSame),
    db.insert(packageProperties).values({ packageId, versionId, name, value }),
  ] as const;
});

/** Deletes the notes of bytes that a blob refers to now. */
const dropNotes = prepare((db, { uuids }: Params<{ uuids: readonly string[] }>) =>
  db.delete(packageLooseFiles).where(sql`${packageLooseFiles.uuid} in (
    select ${packageBlobs.uuid}
    from ${packageBlobs}
    where ${packageBlobs.uuid} in ${uuids}
  )`),
);

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
