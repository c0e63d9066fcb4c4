import { IdxFile } from "../git/pack/idx-file.ts";
import type { OpenPack } from "../git/catalog/pack-catalog.ts";
import { parseSidecar } from "../git/sidecar/sidecar-file.ts";
import type { PackFileKind, Scratch } from "../git/store.ts";
import type { Bucket } from "./bucket.ts";
import { codec } from "./codec.ts";
import { packKey, scratchKey, uploadPrefixes } from "./keys.ts";
import { LruCache } from "./lru-cache.ts";
import type { PackRecord } from "./repository-records.ts";

const KINDS: readonly PackFileKind[] = ["pack", "idx", "sidecar"];

/**
 * Approximate bytes of the objects of an open pack, besides its files: a pack of three objects has 1.5 KB of files and
 * takes 7 KB. Without them, the bounds of the caches would be exceeded by the packs of many small pushes.
 */
export const OPEN_PACK_BYTES = 6 * 1024;

/** The isolate's cache of indexes and sidecars, bounded in bytes. They never change. */
const tables = new LruCache<Omit<OpenPack, "source">>(32 * 1024 * 1024);

/**
 * Opens a pack. Index and sidecar are loaded in full, the pack itself is read by ranges.
 * Cost: two reads, or none if the tables are cached.
 */
export async function openPack(
  bucket: Bucket,
  networkName: string,
  pack: PackRecord,
): Promise<OpenPack> {
  const source = bucket.source(packKey(networkName, pack.name, "pack"), pack.packBytes);
  const idxKey = packKey(networkName, pack.name, "idx");
  const known = tables.get(idxKey);
  if (known) return { ...known, source };
  const [idxBytes, sidecarBytes] = await Promise.all([
    bucket.readFile(idxKey, pack.idxBytes),
    bucket.readFile(packKey(networkName, pack.name, "sidecar"), pack.sidecarBytes),
  ]);
  // Counted until the request ends, since the tables stay in memory at least that long.
  bucket.openGauge()(idxBytes.length + sidecarBytes.length);
  const opened = { idx: new IdxFile(idxBytes), sidecar: parseSidecar(sidecarBytes, codec) };
  // Includes the sorted offsets that the index computes on demand.
  const heldBytes = OPEN_PACK_BYTES + pack.idxBytes + 2 * pack.sidecarBytes + 8 * pack.objectCount;
  tables.set(idxKey, opened, heldBytes);
  return { ...opened, source };
}

/** Deletes the files of a pack. No repository may reference it any more. */
export async function deletePack(
  bucket: Bucket,
  networkName: string,
  packName: string,
): Promise<void> {
  await bucket.delete(KINDS.map((kind) => packKey(networkName, packName, kind)));
}

/** Deletes all files of an upload. No repository may list its pack. */
export async function deleteUpload(
  bucket: Bucket,
  networkName: string,
  uploadId: string,
): Promise<void> {
  for (const prefix of uploadPrefixes(networkName, uploadId)) await bucket.deleteAll(prefix);
}

/** Scratch files in the bucket for data that indexing a pack spills. Call `clear` at the end. */
export function openScratch(
  bucket: Bucket,
  networkName: string,
  uploadId: string,
): Scratch & { clear(): Promise<void> } {
  const keys: string[] = [];
  const key = (file: number): string => scratchKey(networkName, uploadId, file);
  return {
    write: (file, bytes) => {
      keys.push(key(file));
      return bucket.put(key(file), bytes);
    },
    read: (file, start, end) => bucket.read(key(file), start, end),
    clear: async () => {
      for (let at = 0; at < keys.length; at += 1000) await bucket.delete(keys.slice(at, at + 1000));
    },
  };
}
