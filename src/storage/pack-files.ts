import { IdxFile } from "../git/pack/idx-file.ts";
import type { OpenPack } from "../git/pack/pack-catalog.ts";
import { parseSidecar } from "../git/sidecar/sidecar-file.ts";
import type { PackFileKind, Scratch } from "../git/store.ts";
import type { Bucket } from "./bucket.ts";
import { codec } from "./codec.ts";
import { packKey, scratchKey } from "./keys.ts";
import { Recent } from "./recent.ts";
import type { PackRecord } from "./repository-object.ts";

const KINDS: readonly PackFileKind[] = ["pack", "idx", "sidecar"];

/** Indexes and sidecars that the isolate keeps open, in bytes. They never change. */
const tables = new Recent<Omit<OpenPack, "source">>(32 * 1024 * 1024);

/** Opens a pack: its index and sidecar are read whole, its bytes by ranges. Cost: two reads, or none. */
export async function openPack(
  bucket: Bucket,
  networkId: number,
  pack: PackRecord,
): Promise<OpenPack> {
  const source = bucket.source(packKey(networkId, pack.name, "pack"), pack.packBytes);
  const idxKey = packKey(networkId, pack.name, "idx");
  const known = tables.get(idxKey);
  if (known) return { ...known, source };
  const [idxBytes, sidecarBytes] = await Promise.all([
    bucket.read(idxKey, 0, pack.idxBytes),
    bucket.read(packKey(networkId, pack.name, "sidecar"), 0, pack.sidecarBytes),
  ]);
  const opened = { idx: new IdxFile(idxBytes), sidecar: parseSidecar(sidecarBytes, codec) };
  tables.set(idxKey, opened, pack.idxBytes + 2 * pack.sidecarBytes);
  return { ...opened, source };
}

/** Removes a pack that no repository refers to. */
export async function deletePack(
  bucket: Bucket,
  networkId: number,
  packName: string,
): Promise<void> {
  await bucket.delete(KINDS.map((kind) => packKey(networkId, packName, kind)));
}

/** Room in the bucket for what one pack's indexing spills. `clear` when it ends. */
export function openScratch(
  bucket: Bucket,
  networkId: number,
  packName: string,
): Scratch & { clear(): Promise<void> } {
  const keys: string[] = [];
  const key = (file: number): string => scratchKey(networkId, packName, file);
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
