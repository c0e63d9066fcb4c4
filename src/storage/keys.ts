import type { PackFileKind } from "../git/store.ts";

/**
 * Keys of the bucket; no other file builds one.
 *
 * Packs belong to a network of forks, not to a repository, so that a fork copies no bytes. A
 * network is called by the id of its first repository.
 */
export const networkPrefix = (networkId: number): string => `networks/${networkId}/`;

export const packKey = (networkId: number, packName: string, kind: PackFileKind): string =>
  `${networkPrefix(networkId)}packs/${packName}.${kind}`;

/** What does not fit memory while a pack is indexed; it goes when the indexing ends. */
export const scratchKey = (networkId: number, packName: string, file: number): string =>
  `${networkPrefix(networkId)}scratch/${packName}/${file}`;
