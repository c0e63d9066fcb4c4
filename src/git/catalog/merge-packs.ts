import { type Budget, giveWay, runInTurns, UNLIMITED } from "../budget.ts";
import { deflateInParts } from "../zlib/deflate-parts.ts";
import type { Codec } from "../codec.ts";
import { corrupt } from "../error.ts";
import { crc32 } from "../hash/crc32.ts";
import { ObjectHasher } from "../object/hash-object.ts";
import { BLOB, COMMIT, kindOf, TAG, TREE } from "../object/kind.ts";
import { compareOidBytes, formatOid, OID_BYTES } from "../oid.ts";
import { mergeSidecars } from "./merge-sidecars.ts";
import { formatSidecar } from "../sidecar/sidecar-file.ts";
import type { Gauge } from "../store.ts";
import { applyDelta, readDeltaHeader } from "../pack/delta.ts";
import { DELTA_DEPTH_MAX, DeltaChains } from "../pack/delta-chains.ts";
import { DeltaSearch, type FoundDelta } from "./delta-search.ts";
import {
  type EntryHeader,
  formatBaseDistance,
  formatEntryHeader,
  OFS_DELTA,
  readEntryHeader,
} from "../pack/entry-header.ts";
import { formatIdx } from "../pack/idx-file.ts";
import { type KeptObject, MergedObjects } from "./merged-objects.ts";
import { BLOCK_BYTES, PackBlocks } from "./pack-blocks.ts";
import { type OpenPack, PackCatalog } from "./pack-catalog.ts";
import { formatPackHeader } from "../pack/pack-scanner.ts";
import { NO_ENTRY, PackTable } from "../pack/pack-table.ts";
import { PackedObjects, WHOLE_BYTES_MAX } from "./packed-objects.ts";
import { readPathHints } from "./path-hints.ts";
import { PieceOutput } from "../pack/piece-output.ts";

/** A merged pack and the files that belong to it. */
export interface MergedPack {
  /** The pack's trailing hash, hex. */
  readonly checksum: string;
  readonly packBytes: number;
  readonly idxBytes: Uint8Array;
  readonly sidecarBytes: Uint8Array;
  readonly objectCount: number;
  /** Peak memory beyond the tables, in bytes: blocks, contents and pieces. */
  readonly peakBytes: number;
}

export interface PackMergeOptions {
  readonly codec: Codec;
  readonly gauge?: Gauge | undefined;
  /** Receives the next bytes of the pack. They are not modified afterwards. */
  write(piece: Uint8Array): Promise<void>;
  /**
   * Number of oldest packs that are settled: their objects were already searched for deltas, so
   * objects stored whole there stay whole.
   *
   * One by default: the oldest, which is the largest of a geometric sequence. The newer packs are
   * compared with it and with each other, even if they were merged before, because they store the
   * first version of a file whole whenever the previous version was in another pack.
   */
  readonly settledPacks?: number;
  /**
   * Budget of compared contents, in bytes. Once it is used up, the remaining objects stay whole.
   */
  readonly workBytesMax?: number;
  /**
   * Budget of content reads in large packs: trees may use the first half, the delta search the
   * rest. Chains that are too long are cut even without budget.
   */
  readonly contentReadsMax?: number;
  /**
   * The objects that the new pack has; all of them without it. A delta whose base is left out
   * becomes a delta of another object of its chain, or is stored whole.
   */
  readonly isKept?: KeptObject | undefined;
  /** Lets other requests have a turn between parts of the work. */
  readonly budget?: Budget | undefined;
  /** Budget of trees read to learn which objects share a path, in bytes. */
  readonly treeBytesMax?: number;
}

/** Steps to write an entry: for itself, and for each byte that is copied and hashed. */
const STEPS = { object: 50, byte: 0.5 } as const;

/** Order of kinds in a pack, as in git. */
const KIND_ORDER = [COMMIT, TAG, TREE, BLOB] as const;
/** Memory per object for chains, hints, search, offsets and checksums, in bytes. */
const CHAIN_BYTES = 9 + 9 + 13 + 12;
/** Maximum size of an entry header with the distance to its base, in bytes. */
const HEADER_BYTES_MAX = 32;

/**
 * Merges packs into one. Each object is written once, from the oldest pack that contains it, and
 * copied as stored where possible.
 *
 * Commits come first, then tags, trees and blobs, with bases before their deltas. Delta chains have
 * at most `DELTA_DEPTH_MAX` deltas. Objects that the newer packs store whole become deltas if the
 * search finds a good base.
 *
 * Cost: each pack is read once for each kind that it interleaves with others, in blocks of 1 MB,
 * plus scattered reads for compared contents; about 120 bytes of tables per object, and
 * `peakBytes`.
 *
 * @param packs Oldest first, each with all bases of its deltas.
 * @throws GitError `corrupt` if an entry does not match its index, or an object does not match its
 * id.
 */
export async function mergePacks(
  packs: readonly OpenPack[],
  options: PackMergeOptions,
): Promise<MergedPack> {
  const { budget = UNLIMITED, isKept } = options;
  const objects = await runInTurns(MergedObjects.make(packs, isKept), budget);
  return new PackMerger(packs, objects, budget, options).run();
}

class PackMerger {
  private readonly options: PackMergeOptions;
  private readonly budget: Budget;
  private readonly codec: Codec;
  private readonly objects: MergedObjects;
  private readonly blocks: PackBlocks;
  private readonly contents: PackedObjects;
  private readonly hasher: ObjectHasher;
  private readonly output: PieceOutput;
  private readonly chains: DeltaChains;
  /** Start of each entry in the new pack, 0 before it is written, and the entry's CRC-32. */
  private readonly offsets: Float64Array<ArrayBuffer>;
  private readonly crcs: Uint32Array<ArrayBuffer>;
  private search: DeltaSearch | undefined;
  private peakBytes = 0;
  private tableBytes: number;

  constructor(
    packs: readonly OpenPack[],
    objects: MergedObjects,
    budget: Budget,
    options: PackMergeOptions,
  ) {
    this.budget = budget;
    this.options = options;
    this.codec = options.codec;
    this.objects = objects;
    this.blocks = new PackBlocks(packs.map(({ source }) => source));
    this.contents = new PackedObjects(new PackCatalog(this.blocks.wrap(packs)), () => {}, budget);
    this.hasher = new ObjectHasher(options.codec);
    this.output = new PieceOutput(options.codec, (piece) => options.write(piece));
    const { count } = this.objects;
    this.chains = new DeltaChains(count);
    this.offsets = new Float64Array(count + 1);
    this.crcs = new Uint32Array(count);
    this.tableBytes = this.objects.heldBytes + count * CHAIN_BYTES;
  }

  async run(): Promise<MergedPack> {
    const { objects, output, codec } = this;
    const { count } = objects;
    this.search = await this.startSearch();
    output.put(formatPackHeader(count));
    for (const kind of KIND_ORDER) {
      for (const object of objects.order) {
        const turn = giveWay(this.budget, this.stepsFor(object, kind));
        if (turn) await turn;
        if (objects.kinds[object] !== kind) continue;
        // Most entries are copied synchronously: an await without need costs more than the copy.
        if (!this.copyNow(object)) await this.write(object);
      }
    }
    this.offsets[count] = output.sizeBytes;
    this.measure(0);
    const checksum = formatOid(await output.finish());

    const table = new PackTable();
    table.count = count;
    table.offsets = this.offsets;
    table.crcs = this.crcs;
    table.oids = objects.oids;
    return {
      checksum,
      packBytes: output.sizeBytes,
      idxBytes: await runInTurns(formatIdx(table, checksum, codec), this.budget),
      sidecarBytes: await runInTurns(
        formatSidecar(mergeSidecars(objects, checksum, this.chains.bases), codec),
        this.budget,
      ),
      objectCount: count,
      peakBytes: this.peakBytes,
    };
  }

  /**
   * Steps to pass over an object, or to write it: those of reading it are counted where it is read.
   */
  private stepsFor(object: number, kind: number): number {
    const { kinds, starts, ends } = this.objects;
    if (kinds[object] !== kind) return 1;
    return STEPS.object + STEPS.byte * ((ends[object] as number) - (starts[object] as number));
  }

  private async startSearch(): Promise<DeltaSearch> {
    const packsFrom = this.options.settledPacks ?? 1;
    const { workBytesMax = 2 ** 29, treeBytesMax = 2 ** 28, contentReadsMax = 2000 } = this.options;
    const read = (object: number): Promise<Uint8Array> => this.read(object);
    const hints = await readPathHints(this.objects, {
      packsFrom,
      treeBytesMax,
      isExhausted: () => this.blocks.contentReads > contentReadsMax / 2,
      read,
    });
    return new DeltaSearch(this.objects, hints, this.chains, {
      packsFrom,
      workBytesMax,
      isExhausted: () => this.blocks.contentReads > contentReadsMax,
      read: (object) => this.readVerified(object),
    });
  }

  /** True for an object whose stored entry is copied into the new pack. */
  private isCopied(object: number): boolean {
    const base = this.objects.bases[object] as number;
    if (this.objects.rebased.has(object)) return false;
    if (base === NO_ENTRY) return this.search?.isTarget(object) !== true;
    if (this.chains.depth(base) < DELTA_DEPTH_MAX) return true;
    // An object too large to be read into memory keeps its chain.
    return (this.objects.sizes[object] as number) > WHOLE_BYTES_MAX;
  }

  /**
   * Copies an entry synchronously; false if that requires a read or a flush, or if the entry is not
   * to be copied.
   */
  private copyNow(object: number): boolean {
    const { homes, starts, ends } = this.objects;
    const start = starts[object] as number;
    const end = ends[object] as number;
    if (!this.output.hasRoom(end - start + HEADER_BYTES_MAX)) return false;
    const stored = this.blocks.view(homes[object] as number, start, end);
    if (!stored || !this.isCopied(object)) return false;
    this.copyEntry(object, stored);
    return true;
  }

  private async write(object: number): Promise<void> {
    const { objects } = this;
    const base = objects.bases[object] as number;
    if (this.isCopied(object)) {
      await this.copy(object);
      return;
    }
    const content = await this.readVerified(object);
    const rebased = objects.rebased.get(object);
    const found =
      base === NO_ENTRY && rebased === undefined
        ? await this.search?.find(object, content)
        : await this.search?.shorten(object, content, rebased ?? base);
    if (found && (await this.writeDelta(object, found, content))) return;
    if (base === NO_ENTRY && rebased === undefined) {
      await this.copy(object);
      return;
    }
    const data = await runInTurns(deflateInParts(content, this.codec), this.budget);
    this.measure(content.length + data.length);
    const header = formatEntryHeader(objects.kinds[object] as number, content.length);
    await this.writeEntry(object, header, data);
  }

  /** Writes a delta; false if it is larger than the existing entry. */
  private async writeDelta(
    object: number,
    { base, baseContent, delta }: FoundDelta,
    content: Uint8Array,
  ): Promise<boolean> {
    checkDelta(baseContent, delta, content);
    const { starts, ends, bases, rebased } = this.objects;
    const data = await runInTurns(deflateInParts(delta, this.codec), this.budget);
    this.measure(2 * content.length + delta.length + data.length);
    const header = this.formatDeltaHeader(object, delta.length, base);
    const storedBytes = (ends[object] as number) - (starts[object] as number);
    const isWhole = bases[object] === NO_ENTRY && !rebased.has(object);
    if (isWhole && header.length + data.length >= storedBytes) return false;
    await this.writeEntry(object, header, data);
    this.chains.begin(object, base);
    return true;
  }

  private async writeEntry(object: number, header: Uint8Array, data: Uint8Array): Promise<void> {
    this.offsets[object] = this.output.sizeBytes;
    this.crcs[object] = crc32(data, 0, data.length, crc32(header));
    await this.output.push(header);
    await this.output.push(data);
  }

  private async copy(object: number): Promise<void> {
    const { homes, starts, ends } = this.objects;
    const start = starts[object] as number;
    const end = ends[object] as number;
    if (end - start > BLOCK_BYTES / 2) {
      await this.copyByRanges(object, start, end);
      return;
    }
    const stored = await this.blocks.read(homes[object] as number, start, end);
    if (!this.output.hasRoom(stored.length + HEADER_BYTES_MAX)) {
      this.measure(0);
      await this.output.flush();
    }
    this.copyEntry(object, stored);
  }

  /** Copies an entry that is in memory. */
  private copyEntry(object: number, stored: Uint8Array): void {
    const { output } = this;
    this.offsets[object] = output.sizeBytes;
    const storedCrc = crc32(stored);
    this.checkCrc(object, storedCrc);
    const header = this.readHeader(object, stored);
    const base = this.objects.bases[object] as number;
    if (base === NO_ENTRY) {
      this.crcs[object] = storedCrc;
      output.put(stored);
      return;
    }
    const written = this.formatDeltaHeader(object, header.sizeBytes, base);
    const data = stored.subarray(header.next);
    this.crcs[object] = crc32(data, 0, data.length, crc32(written));
    output.put(written);
    output.put(data);
    this.chains.extend(object, base);
  }

  /** Copies an entry of any size, with one range in memory at a time. */
  private async copyByRanges(object: number, start: number, end: number): Promise<void> {
    const { objects, output } = this;
    const { source } = objects.pack(objects.homes[object] as number);
    const base = objects.bases[object] as number;
    this.offsets[object] = output.sizeBytes;
    let storedCrc = 0;
    let crc = 0;
    for (let at = start; at < end; at += BLOCK_BYTES) {
      const range = await source.read(at, Math.min(end, at + BLOCK_BYTES));
      this.measure(range.length);
      storedCrc = crc32(range, 0, range.length, storedCrc);
      let data = range;
      if (at === start) {
        const header = this.readHeader(object, range);
        if (base !== NO_ENTRY) {
          const written = this.formatDeltaHeader(object, header.sizeBytes, base);
          crc = crc32(written);
          await output.push(written);
          data = range.subarray(header.next);
        }
      }
      if (base !== NO_ENTRY) crc = crc32(data, 0, data.length, crc);
      await output.push(data);
    }
    this.checkCrc(object, storedCrc);
    this.crcs[object] = base === NO_ENTRY ? storedCrc : crc;
    if (base !== NO_ENTRY) this.chains.extend(object, base);
  }

  /** Parses the header of an entry, and checks it against the sidecar. */
  private readHeader(object: number, stored: Uint8Array): EntryHeader {
    const { kinds, sizes, bases } = this.objects;
    const header = readEntryHeader(stored, 0);
    const isWhole = bases[object] === NO_ENTRY;
    if (
      !header ||
      (isWhole
        ? header.type !== kinds[object] || header.sizeBytes !== sizes[object]
        : header.type < OFS_DELTA)
    ) {
      throw corrupt(`pack: entry of ${this.oid(object)} differs from the sidecar`);
    }
    return header;
  }

  private formatDeltaHeader(object: number, deltaBytes: number, base: number): Uint8Array {
    const baseOffset = this.offsets[base] as number;
    if (baseOffset === 0) throw corrupt(`sidecar: base of ${this.oid(object)} in a circle`);
    const header = formatEntryHeader(OFS_DELTA, deltaBytes);
    const distance = formatBaseDistance(this.output.sizeBytes - baseOffset);
    const bytes = new Uint8Array(header.length + distance.length);
    bytes.set(header);
    bytes.set(distance, header.length);
    return bytes;
  }

  private checkCrc(object: number, crc: number): void {
    const { homes, positions } = this.objects;
    const { idx } = this.objects.pack(homes[object] as number);
    if (idx.crc(positions[object] as number) !== crc) {
      throw corrupt(`pack: entry of ${this.oid(object)} has another checksum than the index says`);
    }
  }

  private async read(object: number): Promise<Uint8Array> {
    const { homes, positions } = this.objects;
    const content = await this.contents.readAt({
      pack: homes[object] as number,
      position: positions[object] as number,
    });
    // The base was in memory at the same time.
    this.measure(2 * content.length);
    return content;
  }

  /**
   * Returns the content of an object, verified against its id: a newly written entry gets a new
   * checksum that vouches for it, and the source packs are deleted.
   */
  private async readVerified(object: number): Promise<Uint8Array> {
    const { kinds, oids } = this.objects;
    const content = await this.read(object);
    const raw = new Uint8Array(OID_BYTES);
    this.hasher.start(kindOf(kinds[object] as number), content.length);
    this.hasher.update(content);
    this.hasher.digestInto(raw, 0);
    if (compareOidBytes(raw, 0, oids, object * OID_BYTES) !== 0) {
      throw corrupt(`pack: object ${this.oid(object)} has other content`);
    }
    return content;
  }

  /** Records the memory held, including `bytes` of temporary buffers. */
  private measure(bytes: number): void {
    const held =
      this.blocks.heldBytes +
      this.contents.heldBytes +
      (this.search?.heldBytes ?? 0) +
      this.output.heldBytes +
      bytes;
    this.peakBytes = Math.max(this.peakBytes, held);
    this.options.gauge?.(this.tableBytes + held);
  }

  private oid(object: number): string {
    return formatOid(this.objects.oids, object * OID_BYTES);
  }
}

/** Verifies a new delta by applying it, for the same reason as `readVerified`. */
function checkDelta(base: Uint8Array, delta: Uint8Array, content: Uint8Array): void {
  const header = readDeltaHeader(delta);
  const result = new Uint8Array(content.length);
  if (header) applyDelta(base, delta, header, result);
  for (let at = 0; at < content.length; at++) {
    if (result[at] !== content[at]) throw corrupt("delta: makes another object");
  }
}
