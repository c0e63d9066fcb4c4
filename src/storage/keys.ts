import type { PackFileKind } from "../git/store.ts";
import { isSha256 } from "../lib/hex.ts";
import type { LargeFile, RepositoryLocation } from "./repository-records.ts";

/**
 * Keys of the bucket; no other file builds one.
 *
 * Packs belong to a network of forks, not to a repository, so that a fork copies no bytes.
 */
export const networkPrefix = (networkName: string): string => `networks/${networkName}/`;

export const packKey = (networkName: string, packName: string, kind: PackFileKind): string =>
  `${networkPrefix(networkName)}packs/${packName}.${kind}`;

/** The name of a pack that an upload writes: the one that arrives is 0, one made of it is 1. */
export const draftName = (uploadId: string, draft: number): string => `${uploadId}-${draft}`;

/** What does not fit memory while a pack is indexed; it goes when the indexing ends. */
export const scratchKey = (networkName: string, uploadId: string, file: number): string =>
  `${networkPrefix(networkName)}scratch/${uploadId}-${file}`;

/** What git would look for in a repository's directory: for whoever has nothing but the bucket. */
export const rescueKey = (
  { networkName, objectName }: RepositoryLocation,
  file: "HEAD" | "packed-refs",
): string => `${networkPrefix(networkName)}repositories/${objectName}/${file}`;

/** Beginnings of the keys of all files that an upload writes. */
export const uploadPrefixes = (networkName: string, uploadId: string): string[] =>
  ["packs", "scratch"].map((folder) => `${networkPrefix(networkName)}${folder}/${uploadId}-`);

/** The bytes of a large file. SECURITY: its id is a caller's word, and no path. */
export function largeFileKey({ networkName, oid, uploadId }: LargeFile): string {
  if (!isSha256(oid)) throw new Error("a large file that no hash names");
  return `${networkPrefix(networkName)}lfs/${oid}-${uploadId}`;
}
