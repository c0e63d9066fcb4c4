import type { PackReport } from "../git/catalog/pack-writer.ts";
import { PACK_COUNT_OFFSET } from "../git/pack/pack-scanner.ts";
import { FRAME_SPACING } from "../git/wire/side-band.ts";
import { joinBytes } from "../git/wire/pkt-line.ts";
import type { Gauge } from "../git/store.ts";
import { logBug } from "../lib/log.ts";
import { ENTRY_BYTES_MAX, type ResultEntry } from "../storage/result-cache.ts";
import { encodeUtf8 } from "../git/byte-text.ts";
import type { KeptFile, StoredRepository } from "../storage/storage.ts";
import type { SendWithin } from "../storage/bucket.ts";

/** A pack as it is sent, and the number of its objects. */
export interface SentPack {
  readonly objectCount: number;
  /** Returns git's summary line ("Total …"). */
  readonly pieces: AsyncGenerator<Uint8Array, string>;
}

/** A pack in frames that are a file of the bucket. */
export interface StoredPack {
  readonly objectCount: number;
  readonly send: SendWithin;
}

/** What is kept of a pack that is in the bucket. */
interface KeptPack extends KeptFile {
  readonly objectCount: number;
}

/** Git's summary line of a pack that was kept. */
export const formatKeptTotal = (objectCount: number): string =>
  formatTotal(objectCount, { verbatim: objectCount, verbatimPacks: 1 });

/** Git's summary line of a pack that was sent. What the report lacks is 0. */
export function formatTotal(
  objectCount: number,
  {
    deltas = 0,
    reused = 0,
    reusedDeltas = 0,
    verbatim = 0,
    verbatimPacks = 0,
  }: Partial<PackReport>,
): string {
  const total = `Total ${objectCount} (delta ${deltas}), reused ${reused}`;
  return `${total} (delta ${reusedDeltas}), pack-reused ${verbatim} (from ${verbatimPacks})\n`;
}

/** Bytes of packs that the isolate collects at once, at most: others are sent and not kept. */
const COLLECTED_BYTES_MAX = 2 * ENTRY_BYTES_MAX;

/** Bytes that are collected of a pack which may be kept in the bucket, at most. */
const COLLECTED_BEFORE_FILE = 8 * 1024 * 1024;

let collectedBytes = 0;

/** The first byte of what is kept for a pack that is in the bucket: no frame begins so. */
const IN_BUCKET = "{".charCodeAt(0);

/** Reads a pack that was kept, in the cache or in the bucket; undefined if there is none. */
export async function openKept(
  stored: StoredRepository,
  entry: ResultEntry | undefined,
  now: number,
): Promise<SentPack | StoredPack | undefined> {
  const { pieces } = entry ?? {};
  const first = await pieces?.next();
  if (!pieces || !first || first.done) return undefined;
  if (first.value[0] !== IN_BUCKET) return openFrames(first.value, pieces);
  const { objectCount, ...file } = JSON.parse(new TextDecoder().decode(first.value)) as KeptPack;
  const send = await stored.openKeptFile(file, now);
  return send && { objectCount, send };
}

function openFrames(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): SentPack {
  const view = new DataView(first.buffer, first.byteOffset, first.length);
  const objectCount = view.getUint32(FRAME_SPACING.gapBytes + PACK_COUNT_OFFSET);
  async function* pieces(): AsyncGenerator<Uint8Array, string> {
    yield first;
    yield* rest;
    return formatKeptTotal(objectCount);
  }
  return { objectCount, pieces: pieces() };
}

/**
 * Keeps what is sent of a pack, if it is sent to its end: in the cache, or a large one in the
 * bucket.
 *
 * @param large The repository, if a large one is to be kept.
 */
export async function* keepPieces(
  { objectCount, pieces: sent }: SentPack,
  entry: ResultEntry,
  gauge: Gauge,
  large?: StoredRepository,
): AsyncGenerator<Uint8Array, string> {
  const collectedMax = large ? COLLECTED_BEFORE_FILE : ENTRY_BYTES_MAX;
  let pieces: Uint8Array[] | undefined = [];
  let bytes = 0;
  let file: FileWriter | undefined;
  const drop = (): void => {
    if (pieces) collectedBytes -= bytes;
    pieces = undefined;
    gauge(0);
  };
  try {
    for (;;) {
      const { value, done } = await sent.next();
      if (done) {
        if (pieces) entry.keep(joinBytes(pieces));
        const kept = await file?.finish();
        if (kept) entry.keep(encodeUtf8(JSON.stringify({ ...kept, objectCount })));
        return value;
      }
      await file?.write(value);
      if (pieces) {
        bytes += value.length;
        collectedBytes += value.length;
        // Who sends a piece takes its buffer.
        pieces.push(value.slice());
        gauge(bytes);
        if (bytes > collectedMax || collectedBytes > COLLECTED_BYTES_MAX) {
          if (large && bytes > collectedMax) {
            file = await FileWriter.open(large);
            for (const piece of pieces) await file?.write(piece);
          }
          drop();
        }
      }
      yield value;
    }
  } finally {
    drop();
    await file?.abandon();
    await sent.return("");
  }
}

/** Large packs that the isolate writes at once, at most. */
const WRITTEN_MAX = 1;
let writtenCount = 0;

/** Writes a kept pack to the bucket. What fails there fails no response. */
class FileWriter {
  private readonly made: Awaited<ReturnType<StoredRepository["startKeptFile"]>>;
  private isOver = false;

  private constructor(made: FileWriter["made"]) {
    this.made = made;
    writtenCount++;
  }

  static async open(stored: StoredRepository): Promise<FileWriter | undefined> {
    if (writtenCount >= WRITTEN_MAX) return undefined;
    try {
      return new FileWriter(await stored.startKeptFile(Date.now()));
    } catch (error) {
      logBug("kept pack", error);
      return undefined;
    }
  }

  async write(piece: Uint8Array): Promise<void> {
    if (!this.isOver) await this.attempt(() => this.made.write(piece));
  }

  async finish(): Promise<KeptFile | undefined> {
    if (this.isOver) return undefined;
    const kept = await this.attempt(() => this.made.finish());
    this.end();
    return kept;
  }

  /** Drops what is not finished. */
  async abandon(): Promise<void> {
    if (this.isOver) return;
    this.end();
    await this.made.abandon().catch((error: unknown) => logBug("kept pack", error));
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      logBug("kept pack", error);
      await this.abandon();
      return undefined;
    }
  }

  private end(): void {
    if (!this.isOver) writtenCount--;
    this.isOver = true;
  }
}
