import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import {
  packageBlobs,
  packageFiles,
  packages,
  packageVersions,
  type PackageBlob,
} from "../../../db/schema/index.ts";
import { selectFiles, type FileOfVersion } from "../package/find-file.ts";
import type { PackageContext, PackageOwner } from "../package/find-package.ts";
import { publishVersion, type Publication } from "../package/publish-version.ts";
import type { DigestName } from "../../../storage/digest-name.ts";
import type { StoredBytes } from "../../../storage/hashed-files.ts";
import type { ReceivedBlob } from "../package/receive-blob.ts";

// An image is a package. Each tag is a version, and so is each manifest without a tag, under its
// digest. The files of a version are its manifest and everything that it needs, to the layers of
// the images of an index: deleting one version takes nothing from another. Contents that no
// manifest names yet are files of an internal version.

/** The image that a request is for. */
export interface ImageTarget {
  readonly owner: PackageOwner;
  /** Undefined if there is none that the caller may see. */
  readonly pkg: PackageContext | undefined;
  readonly name: string;
}

/**
 * The role of a content in an image. One content may be both: their files have this as their
 * composite key.
 */
export type ContentKind = "blob" | "manifest";

/** The hash functions of digests. @see OCI image specification 1.1, descriptor.md. */
type Algorithm = "sha256" | "sha512";

/**
 * A content as a client names it: the hash function, a colon and hex digits. A content may have two
 * names so.
 */
export type Digest = `${Algorithm}:${string}`;

/** The hash function of a digest. */
export const algorithmOf = (digest: Digest): Algorithm =>
  digest.startsWith("sha512:") ? "sha512" : "sha256";

/** The hash of a digest, in hex. */
export const hexOf = (digest: Digest): string => digest.slice(digest.indexOf(":") + 1);

/** The digest of a content by the hash function of another one. */
export const digestLike = (content: Readonly<Record<Algorithm, string>>, other: Digest): Digest =>
  `${algorithmOf(other)}:${content[algorithmOf(other)]}`;

/** The files that hash a content as a digest does. */
export const blobFilesOf = ({ git }: Pick<Ctx, "git">, digest: Digest) =>
  algorithmOf(digest) === "sha256" ? git.imageFiles : git.packageFiles;

/**
 * A blob with the digests that are known of it: those of SHA-256 only, where it was named so.
 *
 * The others of a large blob would take six times the processor time of its SHA-256.
 */
export const toReceived = (
  uuid: string,
  stored: StoredBytes<"sha256"> & Partial<StoredBytes<DigestName>>,
): ReceivedBlob => ({ uuid, md5: "", sha1: "", sha512: "", ...stored });

/** The version with the contents that no manifest names yet. It is no tag, because of the colon. */
const UPLOADED_VERSION = ":uploaded";

/** The name of a content's file, as people see it. */
export const contentName = (digest: Digest): string => digest.replace(":", "_");

/** The condition that a version is that of a manifest without a tag: tags have no colon. */
export const isUntagged = (versionKey: SQL): SQL => sql`instr(${versionKey}, ':') > 0`;

/**
 * The condition for the blob of an owner that has a hash: one of SHA-512 is longer than one of
 * SHA-256.
 */
export const isBlobOf = (ownerId: number | SQL, hex: SQL): SQL => sql`(
  (${packageBlobs.ownerId} = ${ownerId} and ${packageBlobs.sha256} = ${hex})
  or (${packageBlobs.ownerId} = ${ownerId} and ${packageBlobs.sha512} = ${hex})
)`;

/**
 * The files of an image that have a content, as the clauses after `select`. SECURITY: a content of
 * the owner that the image does not have is not found, since the image's readers may not be those
 * of another image.
 */
export const fromContent = (packageId: SQL, ownerId: number | SQL, hex: SQL, kind: SQL): SQL => sql`
  from ${packageBlobs}
  cross join ${packageFiles}
  cross join ${packageVersions}
  where ${isBlobOf(ownerId, hex)}
    and ${packageFiles.blobId} = ${packageBlobs.id} and ${packageFiles.compositeKey} = ${kind}
    and ${packageVersions.id} = ${packageFiles.versionId}
    and ${packageVersions.packageId} = ${packageId}`;

/** Finds a content that an image has. */
export async function findContent(
  { db }: Ctx,
  { row }: PackageContext,
  digest: Digest,
  kind: ContentKind,
): Promise<FileOfVersion | undefined> {
  const from = fromContent(sql`${row.id}`, row.ownerId, sql`${hexOf(digest)}`, sql`${kind}`);
  const [found] = await selectFiles(db)
    .where(sql`${packageFiles.id} = (select ${packageFiles.id} ${from} limit 1)`)
    .limit(1);
  return found;
}

/**
 * The id of a file of the image that the query around this selects, which has the content of a
 * hash. Null if there is none.
 */
export const contentIdOf = (hex: SQL, kind: ContentKind): SQL => {
  const ownerId = sql`${packages.ownerId}`;
  const from = fromContent(sql`${packages.id}`, ownerId, hex, sql`${kind}`);
  return sql`(select ${packageFiles.id} ${from} limit 1)`;
};

/** The parts of a publication besides the image itself. */
type Beside = Pick<Publication, "also" | "refusalOf">;

/**
 * Makes a content one that an image has, under a digest of it, until a manifest names it or a day
 * has passed.
 *
 * @throws Failure as `publishVersion`.
 */
export function holdContent(
  ctx: Ctx,
  { owner, pkg, name }: ImageTarget,
  digest: Digest,
  content: ReceivedBlob | Pick<PackageBlob, "id">,
  beside: Beside = {},
): Promise<void> {
  return publishVersion(ctx, owner, pkg, {
    type: "container",
    name,
    nameKey: name,
    version: UPLOADED_VERSION,
    versionKey: UPLOADED_VERSION,
    isInternal: true,
    files: [
      {
        blob: "id" in content ? content.id : content,
        name: contentName(digest),
        nameKey: digest,
        compositeKey: "blob" satisfies ContentKind,
      },
    ],
    ifVersionExists: "add",
    // The new file has the time of this upload.
    ifFileExists: "replace",
    ...beside,
  });
}
