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

/** Indexes and sidecars that the isolate keeps open, in bytes. They never change. */
const tables = new LruCache<Omit<OpenPack, "source">>(32 * 1024 * 1024);

/** Opens a pack: its index and sidecar are read whole, its bytes by ranges. Cost: two reads, or none. */
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
  // They stay as long as the request does, or longer.
  bucket.openGauge()(idxBytes.length + sidecarBytes.length);
  const opened = { idx: new IdxFile(idxBytes), sidecar: parseSidecar(sidecarBytes, codec) };
  // With what the index sorts once it is asked to.
  const heldBytes = pack.idxBytes + 2 * pack.sidecarBytes + 8 * pack.objectCount;
  tables.set(idxKey, opened, heldBytes);
  return { ...opened, source };
}

/** Removes a pack that no repository refers to. */
export async function deletePack(
  bucket: Bucket,
  networkName: string,
  packName: string,
): Promise<void> {
  await bucket.delete(KINDS.map((kind) => packKey(networkName, packName, kind)));
}

/** Removes whatever an upload left. For one whose pack no repository lists. */
export async function deleteUpload(
  bucket: Bucket,
  networkName: string,
  uploadId: string,
): Promise<void> {
  for (const prefix of uploadPrefixes(networkName, uploadId)) await bucket.deleteAll(prefix);
}

/** Room in the bucket for what one pack's indexing spills. `clear` when it ends. */
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
