import type { PackFileKind } from "../git/store.ts";
import { isSha256 } from "../lib/hex.ts";
import type { AvatarFile, LargeFile, LogPiece, RepositoryLocation } from "./repository-records.ts";

/**
 * Keys of the bucket. No other file builds keys.
 *
 * Packs belong to a fork network, not to a repository, so that a fork copies no bytes.
 */
export const networkPrefix = (networkName: string): string => `networks/${networkName}/`;

export const packKey = (networkName: string, packName: string, kind: PackFileKind): string =>
  `${networkPrefix(networkName)}packs/${packName}.${kind}`;

/**
 * The name of a pack that an upload writes: draft 0 is the received pack, 1 the pack completed from
 * it.
 */
export const draftName = (uploadId: string, draft: number): string => `${uploadId}-${draft}`;

/** A file of data spilled while a pack is indexed. It is deleted when the indexing ends. */
export const scratchKey = (networkName: string, uploadId: string, file: number): string =>
  `${networkPrefix(networkName)}scratch/${uploadId}-${file}`;

/**
 * A file of git's repository layout, from which an operator can restore refs if only the bucket is
 * left.
 */
export const rescueKey = (
  { networkName, objectName }: RepositoryLocation,
  file: "HEAD" | "packed-refs",
): string => `${networkPrefix(networkName)}repositories/${objectName}/${file}`;

/** The key prefixes of all files that an upload writes. */
export const uploadPrefixes = (networkName: string, uploadId: string): string[] =>
  ["packs", "scratch"].map((folder) => `${networkPrefix(networkName)}${folder}/${uploadId}-`);

/** The bytes of a large file. SECURITY: the oid comes from a client and must not become a path. */
export function largeFileKey({ networkName, oid, uploadId }: LargeFile): string {
  if (!isSha256(oid)) throw new Error("a large file that no hash names");
  return `${networkPrefix(networkName)}lfs/${oid}-${uploadId}`;
}

/** The image of an avatar. */
export const avatarKey = ({ hash, uploadId }: AvatarFile): string => `avatars/${hash}-${uploadId}`;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The file of an attachment. */
export const attachmentKey = (uuid: string): string => `attachments/${checkUuid(uuid)}`;

/** The bytes of a blob of packages. */
export const packageFileKey = (uuid: string): string => `packages/${checkUuid(uuid)}`;

/** SECURITY: the uuid may come from a path, and must not become one. */
function checkUuid(uuid: string): string {
  if (!UUID.test(uuid)) throw new Error("a file that no uuid names");
  return uuid;
}

/** All files about webhook deliveries. */
export const deliveryArchivePrefix = "webhooks/";

/** A file about webhook deliveries, or the beginning of the keys of a day. */
export const deliveryArchiveKey = (name: string): string => `${deliveryArchivePrefix}${name}`;

/** All pieces of the log of a task. */
export const logPrefix = (taskId: number): string => `actions/logs/${taskId}/`;

/** A piece of a log: rows that follow each other. */
export const logPieceKey = ({ taskId, firstRow, rowCount }: LogPiece): string =>
  `${logPrefix(taskId)}${firstRow}-${rowCount}`;

/** All files of an artifact. */
export const artifactPrefix = (artifactId: number): string => `actions/artifacts/${artifactId}/`;

/** A part of a file of an artifact. */
export const artifactPartKey = (artifactId: number, uuid: string): string =>
  `${artifactPrefix(artifactId)}${checkUuid(uuid)}`;
