import { runNow } from "../git/budget.ts";
import type { BlockPool } from "../git/catalog/block-pool.ts";
import { BlockIndex, ObjectBlocks } from "../git/catalog/object-blocks.ts";
import { BlockPack, type OpenPack } from "../git/catalog/pack-catalog.ts";
import type { JoinPart } from "../git/join/join-plan.ts";
import { readWholeSidecar } from "../git/join/whole-sidecar.ts";
import { MERGE_LIMITS } from "../git/pack/find-merge.ts";
import { IdxFile } from "../git/pack/idx-file.ts";
import {
  BLOCK_TABLES_MIN,
  formatBlockTables,
  readBlockLayout,
  TABLE_BLOCK_BYTES,
} from "../git/sidecar/block-tables.ts";
import {
  countsOf,
  formatSidecar,
  parseSidecar,
  type Sidecar,
  sidecarLength,
} from "../git/sidecar/sidecar-file.ts";
import type { ByteSource, PackFileKind, Scratch } from "../git/store.ts";
import { joinBytes } from "../git/wire/pkt-line.ts";
import { settled } from "../lib/settled.ts";
import type { Bucket } from "./bucket.ts";
import { codec } from "./codec.ts";
import { packKey, scratchKey, uploadPrefixes } from "./keys.ts";
import { LruCache } from "../lib/lru-cache.ts";
import type { PackRecord } from "./repository-records.ts";

const KINDS: readonly PackFileKind[] = ["pack", "idx", "sidecar"];

/**
 * Approximate bytes of the objects of an open pack, besides its files: a pack of three objects has
 * 1.5 KB of files and takes 7 KB. Without them, the bounds of the caches would be exceeded by the
 * packs of many small pushes.
 */
const OPEN_PACK_BYTES = 6 * 1024;

/** The isolate's cache of indexes and sidecars, bounded in bytes. They never change. */
const tables = new LruCache<Omit<OpenPack, "source">>(32 * 1024 * 1024);

/**
 * The parts in memory of the tables of large packs, by key; null for a pack that has none to be
 * read by block.
 */
const indexes = new LruCache<BlockIndex | null>(16 * 1024 * 1024);

/**
 * Opens a pack whose objects are looked up in blocks of its tables, if it is a large one with such
 * tables, and as `openPack` does otherwise.
 *
 * Cost: two reads, or none if what is in memory of the tables is cached.
 *
 * @param pool Holds the blocks of this request.
 */
export async function openPackByBlock(
  bucket: Bucket,
  networkName: string,
  pack: PackRecord,
  pool: BlockPool,
): Promise<OpenPack> {
  const index = await findBlockIndex(bucket, networkName, pack);
  if (!index) return openPack(bucket, networkName, pack);
  const key = packKey(networkName, pack.name, "sidecar");
  const source = bucket.source(packKey(networkName, pack.name, "pack"), pack.packBytes);
  const rows = bucket.source(key, pack.sidecarBytes);
  return new BlockPack(new ObjectBlocks(index, rows, pool, pack.name), source);
}

/** The parts in memory of a pack's tables; null if they are not read by block. */
async function findBlockIndex(
  bucket: Bucket,
  networkName: string,
  pack: PackRecord,
): Promise<BlockIndex | null> {
  if (pack.objectCount < BLOCK_TABLES_MIN) return null;
  const key = packKey(networkName, pack.name, "sidecar");
  let index = indexes.get(key);
  if (index === undefined) {
    index = await readBlockIndex(bucket, key, pack);
    indexes.set(key, index, OPEN_PACK_BYTES + (index?.heldBytes ?? 0));
  }
  if (index) bucket.openGauge()(index.heldBytes);
  return index;
}

async function readBlockIndex(
  bucket: Bucket,
  key: string,
  { sidecarBytes: fileBytes }: PackRecord,
): Promise<BlockIndex | null> {
  const read = (start: number, end: number): Promise<Uint8Array> =>
    bucket.readRange(key, start, end);
  const tail = await read(Math.max(0, fileBytes - TAIL_BYTES), fileBytes);
  const layout = readBlockLayout(tail, fileBytes);
  if (!layout) return null;
  return new BlockIndex(layout, await read(layout.historyAt, fileBytes));
}

/** Bytes that are read of the end of a file to find whether it has block tables. */
const TAIL_BYTES = 64;

/** The tables of a pack to be stored, and the length of the pack. */
export interface NewTables {
  readonly idxBytes: Uint8Array;
  readonly sidecarBytes: Uint8Array;
  readonly packBytes: number;
}

/**
 * Stores index and sidecar of a pack, with block tables if it is a large one.
 *
 * @returns The length of the file of the sidecar.
 */
export async function storeTables(
  bucket: Bucket,
  networkName: string,
  packName: string,
  { idxBytes, sidecarBytes, packBytes }: NewTables,
): Promise<number> {
  const idxKey = packKey(networkName, packName, "idx");
  const sidecarKey = packKey(networkName, packName, "sidecar");
  const idx = new IdxFile(idxBytes);
  if (idx.count < BLOCK_TABLES_MIN) {
    await settled([bucket.put(idxKey, idxBytes), bucket.put(sidecarKey, sidecarBytes)]);
    return sidecarBytes.length;
  }
  await bucket.put(idxKey, idxBytes);
  const upload = bucket.startUpload(sidecarKey);
  // The order of the pack, and of each object the commit that introduces it.
  const gauge = bucket.openGauge();
  gauge(21 * idx.count + TABLE_BLOCK_BYTES);
  try {
    await upload.write(sidecarBytes);
    const pieces = formatBlockTables(parseSidecar(sidecarBytes, codec), idx, packBytes);
    for (const piece of pieces) await upload.write(piece);
    await upload.finish();
  } catch (error) {
    await upload.abort();
    throw error;
  } finally {
    gauge(0);
  }
  return upload.sizeBytes;
}

/**
 * Opens a pack. Index and sidecar are loaded in full, the pack itself is read by ranges. Cost: two
 * reads, or none if the tables are cached; one more for a large pack, whose block tables are not
 * read.
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
  const [idxBytes, sidecar] = await Promise.all([
    bucket.readFile(idxKey, pack.idxBytes),
    readSidecar(bucket, packKey(networkName, pack.name, "sidecar"), pack),
  ]);
  const sidecarBytes = sidecarLength(countsOf(sidecar));
  // Counted until the request ends, since the tables stay in memory at least that long.
  bucket.openGauge()(idxBytes.length + sidecarBytes);
  const opened = { idx: new IdxFile(idxBytes), sidecar };
  keepTables(idxKey, opened, pack, sidecarBytes);
  return { ...opened, source };
}

function keepTables(
  idxKey: string,
  opened: Omit<OpenPack, "source">,
  { idxBytes, objectCount }: PackRecord,
  sidecarBytes: number,
): void {
  // Includes the sorted offsets that the index computes on demand.
  const heldBytes = OPEN_PACK_BYTES + idxBytes + 2 * sidecarBytes + 8 * objectCount;
  tables.set(idxKey, opened, heldBytes);
}

/** The largest pack that is kept when it is stored. */
const KEPT_BYTES_MAX = 256 * 1024;

/**
 * Keeps a small pack in memory that was just stored, so that the next one to open it in this
 * isolate reads nothing: the event of the push, the page that shows it, the next change.
 *
 * @param bytes The pack; undefined if it is not in memory.
 */
export function keepPack(
  bucket: Bucket,
  networkName: string,
  pack: PackRecord,
  { idxBytes, sidecarBytes }: Omit<NewTables, "packBytes">,
  bytes: Uint8Array | undefined,
): void {
  if (!bytes || bytes.length > KEPT_BYTES_MAX) return;
  const opened = { idx: new IdxFile(idxBytes), sidecar: parseSidecar(sidecarBytes, codec) };
  keepTables(packKey(networkName, pack.name, "idx"), opened, pack, sidecarBytes.length);
  bucket.keep(packKey(networkName, pack.name, "pack"), bytes);
}

/** Reads a sidecar without the block tables behind it; from these, if the file has nothing else. */
async function readSidecar(bucket: Bucket, key: string, pack: PackRecord): Promise<Sidecar> {
  const { objectCount, sidecarBytes, checksum } = pack;
  if (objectCount < BLOCK_TABLES_MIN) {
    const bytes = await bucket.readFile(key, sidecarBytes);
    const joined = readBlockLayout(bytes.subarray(-TAIL_BYTES), bytes.length);
    if (!joined) return parseSidecar(bytes, codec);
    const index = new BlockIndex(joined, bytes.subarray(joined.historyAt));
    return readWholeSidecar(index, sourceOf(bytes), checksum);
  }
  const tail = await bucket.readRange(key, Math.max(0, sidecarBytes - TAIL_BYTES), sidecarBytes);
  const layout = readBlockLayout(tail, sidecarBytes);
  if (layout?.sidecarBytes === 0) {
    const index = new BlockIndex(
      layout,
      await bucket.readRange(key, layout.historyAt, sidecarBytes),
    );
    return readWholeSidecar(index, bucket.source(key, sidecarBytes), checksum);
  }
  return parseSidecar(await bucket.readRange(key, 0, layout?.sidecarBytes ?? sidecarBytes), codec);
}

/**
 * Opens a pack to be joined. Tables that are not in the bucket by block are made in memory: 130
 * bytes an object, for a pack of at most `MERGE_LIMITS`.
 *
 * @returns Undefined for a larger one that was stored before there were block tables.
 */
export async function openJoinPart(
  bucket: Bucket,
  networkName: string,
  pack: PackRecord,
  pool: BlockPool,
): Promise<JoinPart | undefined> {
  const keyOf = (kind: PackFileKind): string => packKey(networkName, pack.name, kind);
  const shared = {
    idx: bucket.source(keyOf("idx"), pack.idxBytes),
    pack: bucket.source(keyOf("pack"), pack.packBytes),
    checksum: pack.checksum,
  };
  const index = await findBlockIndex(bucket, networkName, pack);
  if (index) {
    const stored = bucket.source(keyOf("sidecar"), pack.sidecarBytes);
    return {
      ...shared,
      tables: stored,
      blocks: new ObjectBlocks(index, stored, pool, pack.name),
    };
  }
  if (pack.objectCount > MERGE_LIMITS.objectCount) return undefined;
  const { idx, sidecar } = await openPack(bucket, networkName, pack);
  const { file, index: made } = makeTables(sidecar, idx, pack.packBytes);
  bucket.openGauge()(file.length + made.heldBytes);
  const source = sourceOf(file);
  return { ...shared, tables: source, blocks: new ObjectBlocks(made, source, pool, pack.name) };
}

/** A file in memory. */
const sourceOf = (bytes: Uint8Array): ByteSource => ({
  sizeBytes: bytes.length,
  read: (start, end) => Promise.resolve(bytes.subarray(start, end)),
});

/** The block tables of a pack in memory. */
function makeTables(sidecar: Sidecar, idx: IdxFile, packBytes: number) {
  const file = joinBytes([
    runNow(formatSidecar(sidecar, codec)),
    ...formatBlockTables(sidecar, idx, packBytes),
  ]);
  const layout = readBlockLayout(file, file.length);
  if (!layout) throw new Error("no block tables");
  return { file, index: new BlockIndex(layout, file.subarray(layout.historyAt)) };
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
