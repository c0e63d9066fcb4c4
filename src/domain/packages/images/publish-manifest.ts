import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import { packageFiles, packageLooseFiles, packageVersions } from "../../../db/schema/index.ts";
import {
  publishedPackageId,
  publishedVersionId,
  type PublishedKey,
  publishVersion,
} from "../package/publish-version.ts";
import { type BlobNote, dropBlobs, noteOfNew, storeNoted } from "../package/receive-blob.ts";
import { imageFailure } from "./image-failure.ts";
import { contentName, type Digest, fromContent, hexOf, type ImageTarget } from "./image.ts";
import { ManifestFacts, neededContents, type NeededContent, withContentsOf } from "./manifest.ts";

const other = alias(packageVersions, "other");
const lead = alias(packageFiles, "lead");

/** Maximum contents that a manifest needs, to the layers of the images of an index. */
const CONTENTS_MAX = 5000;

/** The property of the versions whose manifest is about another one. */
export const SUBJECT_PROPERTY = "container.subject";

/** A manifest as it was sent. */
export interface GivenManifest {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
  /** Only with what it names itself. */
  readonly facts: ManifestFacts;
  /** Undefined if it is published under its digest alone. */
  readonly tag: string | undefined;
}

/**
 * Publishes a manifest under a tag or under its digest, in one batch.
 *
 * A tag that named another manifest moves: that one becomes a version under its digest, unless it
 * has another tag. A manifest that is published again changes nothing.
 *
 * @throws Failure `not_found` if the image does not have something that the manifest names;
 * `malformed` if it needs more than `CONTENTS_MAX` contents; and as `publishVersion` does.
 */
export async function publishManifest(
  ctx: Ctx,
  target: ImageTarget,
  given: GivenManifest,
): Promise<void> {
  const { owner, pkg, name } = target;
  const { bytes, digest, tag } = given;
  const note = noteOfNew(ctx);
  const known = await findManifests(ctx, target, [digest, ...given.facts.manifests], note);
  // It has a tag, or was published under its digest before.
  if (tag === undefined && known.get(digest)?.isVersion) return;
  const facts = withContentsOf(
    given.facts,
    given.facts.manifests.flatMap((each) => known.get(each)?.facts ?? []),
  );
  const needed = neededContents(facts);
  if (needed.length + facts.foreignBlobs.length > CONTENTS_MAX) {
    dropBlobs(ctx, [note.uuid]);
    throw imageFailure("MANIFEST_INVALID", `a manifest needs at most ${CONTENTS_MAX} contents`);
  }
  const { mediaType, artifactType, subject } = facts;
  const version = tag ?? digest;
  const missing = imageFailure("MANIFEST_BLOB_UNKNOWN", "the manifest names unknown contents");
  const blob = known.get(digest)?.blobId ?? (await storeNoted(ctx, "container", note, bytes));
  try {
    await publishVersion(ctx, owner, pkg, {
      type: "container",
      name,
      nameKey: name,
      version,
      versionKey: version,
      metadata: { digest, mediaType, artifactType },
      files: [
        {
          blob,
          name: "manifest.json",
          nameKey: digest,
          compositeKey: "manifest",
          isLead: true,
          metadata: facts,
        },
      ],
      ...(subject && { versionProperties: { [SUBJECT_PROPERTY]: subject } }),
      ifVersionExists: "add",
      ifFileExists: "keep",
      before: (key) => (tag === undefined ? [] : freeTag(ctx.db, { key, digest })),
      also: (key) => [
        insertContents(ctx.db, {
          key,
          contents: JSON.stringify(listContents(facts)),
          now: ctx.now,
        }),
        requireContents(ctx.db, {
          key,
          contents: JSON.stringify([...needed, [digest, "manifest"]]),
        }),
        ...(tag === undefined ? [] : [deleteUntagged(ctx.db, { key, digest })]),
      ],
      refusalOf: (error) =>
        isViolation(error, "NOT NULL", "package_versions.type") ? missing : undefined,
    });
  } catch (error) {
    throw error === missing ? await nameMissing(ctx, target, needed, missing.message) : error;
  }
}

/** A manifest that the image has. */
interface KnownManifest {
  readonly blobId: number;
  readonly facts: ManifestFacts;
  /** Whether it has a version of its own, and is not only one that an index names. */
  readonly isVersion: boolean;
}

const found = alias(packageFiles, "found");

/**
 * Finds the manifests of a list that the image has, in one round trip.
 *
 * @param note Of the bytes of the first one: it is inserted unless the image has them.
 */
async function findManifests(
  { db }: Ctx,
  { owner, pkg }: ImageTarget,
  digests: readonly [Digest, ...Digest[]],
  note: BlobNote,
): Promise<Map<Digest, KnownManifest>> {
  const { rows } = await batch(
    db,
    manifestsOf(db, {
      packageId: pkg?.row.id ?? 0,
      ownerId: owner.account.id,
      note,
      hex: hexOf(digests[0]),
      list: JSON.stringify(digests.map((digest) => [digest, hexOf(digest)])),
    }),
  );
  return new Map(
    rows.map(({ digest, blobId, metadata, isVersion }) => [
      digest,
      { blobId, facts: ManifestFacts.parse(metadata), isVersion },
    ]),
  );
}

interface SoughtManifests {
  readonly packageId: number;
  readonly ownerId: number;
  readonly note: BlobNote;
  /** The hash of the first of them. */
  readonly hex: string;
  /** JSON: pairs of a digest and its hash. */
  readonly list: string;
}

const manifestsOf = prepareAll((db, p: Params<SoughtManifests>) => {
  const fromManifest = (hex: SQL) => fromContent(p.packageId, p.ownerId, hex, sql`'manifest'`);
  return {
    noted: insertSelect(
      db,
      packageLooseFiles,
      p.note,
      sql`where not exists (select 1 ${fromManifest(p.hex)})`,
    ),
    rows: db
      .select({
        digest: sql<Digest>`given.value ->> 0`.as("digest"),
        blobId: found.blobId,
        metadata: found.metadata,
        isVersion: found.isLead,
      })
      .from(sql`json_each(${p.list}) given`)
      .innerJoin(
        found,
        sql`${found.id} = (
          select ${packageFiles.id} ${fromManifest(sql`given.value ->> 1`)}
          order by ${packageFiles.isLead} desc
          limit 1
        )`,
      ),
  };
});

/** The digest of a version's manifest. */
const LEAD_DIGEST: SQL<string> = sql`(
  select ${packageFiles.nameKey}
  from ${packageFiles}
  where ${packageFiles.versionId} = ${packageVersions.id} and ${packageFiles.isLead}
)`;

/** A manifest that is published. */
interface PublishedManifest {
  readonly key: PublishedKey;
  readonly digest: string;
}

/** The statements after which no version has the tag, unless it has the same manifest already. */
const freeTag = prepareAll((db, { key, digest }: Params<PublishedManifest>) => {
  const packageId = publishedPackageId(key);
  const isOther = and(
    eq(packageVersions.packageId, packageId),
    eq(packageVersions.versionKey, key.versionKey),
    ne(LEAD_DIGEST, digest),
  );
  const hasVersion = sql`exists (
    select 1
    from ${packageVersions} ${other}
    where ${other.packageId} = ${packageId} and ${other.versionKey} = ${LEAD_DIGEST}
  )`;
  const isTagged = sql`exists (
    select 1
    from ${packageVersions} ${other}
    join ${packageFiles} ${lead} on ${lead.versionId} = ${other.id} and ${lead.isLead}
    where ${other.packageId} = ${packageId} and ${other.id} <> ${packageVersions.id}
      and ${lead.nameKey} = ${LEAD_DIGEST}
  )`;
  return [
    db
      .update(packageVersions)
      .set({ version: LEAD_DIGEST, versionKey: LEAD_DIGEST })
      .where(and(isOther, sql`not ${hasVersion}`, sql`not ${isTagged}`)),
    db.delete(packageVersions).where(isOther),
  ] as const;
});

/** The statement that deletes the version of a manifest that had no tag until now. */
const deleteUntagged = prepare((db, { key, digest }: Params<PublishedManifest>) =>
  db
    .delete(packageVersions)
    .where(
      and(
        eq(packageVersions.packageId, publishedPackageId(key)),
        eq(packageVersions.versionKey, digest),
      ),
    ),
);

/** The contents that a version gets, with their hashes and names. */
const listContents = (facts: ManifestFacts) =>
  [...neededContents(facts), ...facts.foreignBlobs.map((digest) => [digest, "blob"] as const)].map(
    ([digest, kind]) => [hexOf(digest), kind, contentName(digest), digest],
  );

interface InsertedContents {
  readonly key: PublishedKey;
  /** JSON, as of `listContents`. */
  readonly contents: string;
  readonly now: number;
}

/** The statement that gives the version all contents that the image has of those it needs. */
const insertContents = prepare((db, { key, contents, now }: Params<InsertedContents>) => {
  const field = (at: number) => sql`given.value ->> ${sql.raw(String(at))}`;
  const from = fromContent(publishedPackageId(key), key.ownerId, field(0), field(1));
  const first = (column: SQL) => sql`(select ${column} ${from} limit 1)`;
  return insertSelect(
    db,
    packageFiles,
    {
      versionId: publishedVersionId(key),
      blobId: first(sql`${packageFiles.blobId}`),
      name: field(2),
      nameKey: field(3),
      compositeKey: field(1),
      isLead: false,
      metadata: first(sql`${packageFiles.metadata}`),
      createdAt: now,
    },
    sql`from json_each(${contents}) given where exists (select 1 ${from})`,
  ).onConflictDoNothing();
});

/** The statement that fails unless the version has all contents. */
const requireContents = prepare(
  (db, { key, contents }: Params<{ key: PublishedKey; contents: string }>) => {
    const versionId = publishedVersionId(key);
    return db
      .update(packageVersions)
      .set({
        type: onlyWhile(
          sql`not exists (
            select 1
            from json_each(${contents}) given
            where not exists (
              select 1
              from ${packageFiles}
              where ${packageFiles.versionId} = ${versionId}
                and ${packageFiles.nameKey} = given.value ->> 0
                and ${packageFiles.compositeKey} = given.value ->> 1
            )
          )`,
          "container" as const,
        ),
      })
      .where(eq(packageVersions.id, versionId));
  },
);

/** The refusal that names the first content that the image does not have. */
async function nameMissing(
  { db }: Ctx,
  { owner, pkg }: ImageTarget,
  needed: readonly NeededContent[],
  message: string,
): Promise<Error> {
  const packageId = sql`${pkg?.row.id ?? 0}`;
  const list = JSON.stringify(needed.map(([digest, kind]) => [hexOf(digest), kind, digest]));
  const from = fromContent(
    packageId,
    owner.account.id,
    sql`given.value ->> 0`,
    sql`given.value ->> 1`,
  );
  const [first] = await db.all<{ digest: string }>(sql`
    select given.value ->> 2 as digest
    from json_each(${list}) given
    where not exists (select 1 ${from})
    order by given.key
    limit 1`);
  return imageFailure("MANIFEST_BLOB_UNKNOWN", message, first && { digest: first.digest });
}
