import type { Codec, Compressor, Hash } from "../codec.ts";
import { corrupt, overLimit } from "../error.ts";
import { OID_BYTES } from "../oid.ts";
import { sweepChains } from "./chain-sweep.ts";
import {
  formatBaseDistance,
  formatEntryHeader,
  OFS_DELTA,
  readEntryHeader,
  REF_DELTA,
} from "../pack/entry-header.ts";
import { LargeContents } from "../pack/large-contents.ts";
import { resident } from "./block-pool.ts";
import type { ObjectEntry, ObjectLocation, PackCatalog } from "./pack-catalog.ts";
import type { PackedObjects } from "./packed-objects.ts";
import { formatPackHeader, PACK_HEADER_BYTES } from "../pack/pack-scanner.ts";
import type { LocationSet } from "./location-set.ts";
import type { Gauge, Scratch, Spacing, StoredChain } from "../store.ts";
import { findVerbatimPart, type VerbatimPart } from "./verbatim-part.ts";
import { PositionNumbers, SourceEntries } from "./source-entries.ts";
import {
  DEFLATED_BYTE_STEPS,
  DEFLATED_TOGETHER,
  deflateInPieces,
} from "../zlib/deflate-in-pieces.ts";
import { storedStream } from "../zlib/stored-stream.ts";

/** Target size of one read of stored entries, in bytes. */
const READ_BYTES = 1024 * 1024;
/** Largest gap of unneeded bytes that is read to join two reads, in bytes. */
const GAP_BYTES_MAX = 64 * 1024;
/** Node number of the large object in scratch: there is one at a time. */
const LARGE_NODE = 0;
/** Target size of the pieces that are yielded, in bytes. */
const PIECE_BYTES = 64 * 1024;
/** How pieces are laid out for a receiver that takes the bytes of a pack alone. */
const PLAIN: Spacing = { gapBytes: 0, pieceBytes: 256 * 1024, count: 1 };
/** A pack that is sent with at least so many bytes verbatim is worth a known trailer. */
const TRAILER_BYTES_MIN = 4 * 1024 * 1024;
/** Size limit of the objects to re-encode that are resolved together, in bytes. */
const SWEEP_BYTES = 4 * 1024 * 1024;

export interface PackWriterOptions {
  readonly codec: Codec;
  /** Deflates large objects piece by piece. Without it, each is deflated at once. */
  readonly compressor?: Compressor;
  /** True if the receiver accepts deltas that refer to their base by offset. */
  readonly takesOfsDelta: boolean;
  /**
   * Opens scratch storage for deltas too large for memory. Without it, such an object is refused.
   */
  readonly openScratch?: () => Promise<Scratch>;
  readonly gauge?: Gauge | undefined;
  /**
   * Objects that the receiver has, to be used as bases of a thin pack. Undefined if none may be
   * assumed.
   */
  readonly receiverHas?: LocationSet;
  /** How the pack is laid out in the yielded pieces. */
  readonly spacing?: Spacing | undefined;
  /** The known trailers of packs of the same objects, written with the same options. */
  readonly trailers?: KnownTrailers;
}

/** Keeps the trailing hash of a large pack, so that the next one like it need not be hashed. */
export interface KnownTrailers {
  find(): Promise<Uint8Array | undefined>;
  keep(trailer: Uint8Array): void;
}

/** Steps to write an entry. */
const ENTRY_STEPS = 200;

/** Statistics of a written pack, for the last line that git prints. */
export interface PackReport {
  /** Number of objects written as deltas. */
  deltas: number;
  /** Number of objects whose entries were copied. */
  reused: number;
  reusedDeltas: number;
  /** Number of objects sent with the bytes around them, and of packs they are from. */
  verbatim: number;
  verbatimPacks: number;
}

/**
 * Writes a pack of the given objects. Entries are copied as stored where possible.
 *
 * Entries are copied compressed, in the order of their pack: those at the front of a pack of which
 * all are wanted byte for byte, the others one by one. A delta is copied if its base is in
 * the new pack or the receiver has the base; otherwise the object is inflated and stored whole. The
 * pack is generated on demand: for a slow receiver, memory holds one run of entries, about
 * `READ_BYTES` or one delta, independent of object sizes, and up to `SWEEP_BYTES` of objects to be
 * deflated.
 *
 * @param objects Reads the objects to deflate. Its budget pauses the work.
 * @param toPack The objects to write, each once, by its home (`PackCatalog.home`).
 * @returns Statistics of the pack.
 */
export async function* writePack(
  catalog: PackCatalog,
  objects: PackedObjects,
  toPack: LocationSet,
  options: PackWriterOptions,
): AsyncGenerator<Uint8Array, PackReport> {
  const writer = new PackWriter(catalog, objects, toPack, options);
  return yield* writer.run();
}

class PackWriter {
  private readonly catalog: PackCatalog;
  private readonly objects: PackedObjects;
  private readonly toPack: LocationSet;
  private readonly options: PackWriterOptions;
  /** Start of each written object in the new pack, by pack and position. */
  private readonly written: PositionNumbers[] = [];
  /** The front of each pack that is copied byte for byte, and where it begins in the new pack. */
  private readonly parts: (VerbatimPart | undefined)[] = [];
  private readonly partStarts: number[] = [];
  private readonly spacing: Spacing;
  private readonly report: PackReport = {
    deltas: 0,
    reused: 0,
    reusedDeltas: 0,
    verbatim: 0,
    verbatimPacks: 0,
  };
  /**
   * Contents of objects of the current pack that are resolved for re-encoding and not written yet.
   */
  private inflated = new Map<number, Uint8Array>();
  private reencodedBytes = 0;
  /** Whether all that was written is copied: what is deflated depends on the platform's zlib. */
  private isReproducible = true;
  private large: LargeContents | undefined;
  private offset = 0;
  private pieces: Uint8Array[] = [];
  private pieceBytes = 0;

  constructor(
    catalog: PackCatalog,
    objects: PackedObjects,
    toPack: LocationSet,
    options: PackWriterOptions,
  ) {
    this.catalog = catalog;
    this.objects = objects;
    this.toPack = toPack;
    this.options = options;
    this.spacing = options.spacing ?? PLAIN;
  }

  async *run(): AsyncGenerator<Uint8Array, PackReport> {
    const whole = this.findWhole();
    if (whole !== undefined) {
      this.countVerbatim(this.toPack.size);
      yield* this.copy(whole, 0, this.catalog.pack(whole).source.sizeBytes);
      yield this.take();
      return this.report;
    }
    await this.findParts();
    const { codec, trailers } = this.options;
    const isLong = this.parts.reduce((sum, part) => sum + (part?.end ?? 0), 0) > TRAILER_BYTES_MIN;
    const known = isLong ? await trailers?.find() : undefined;
    const hash = known ? undefined : codec.createSha1();
    for await (const piece of this.entries()) {
      if (hash) updateSpaced(hash, piece, this.spacing);
      yield piece;
    }
    const trailer = known ?? (hash as Hash).digest();
    if (isLong && !known && this.isReproducible) trailers?.keep(trailer);
    this.push(trailer);
    yield this.take();
    this.options.gauge?.(0);
    return this.report;
  }

  /** The pack that has exactly the objects to write: it can be sent with its header and hash. */
  private findWhole(): number | undefined {
    const { catalog, toPack } = this;
    if (!this.options.takesOfsDelta || toPack.size === 0) return undefined;
    const found = catalog.packs.findIndex((_, pack) => toPack.sizeOf(pack) === toPack.size);
    return toPack.capacity(found) === toPack.size ? found : undefined;
  }

  private async findParts(): Promise<void> {
    if (!this.options.takesOfsDelta) return;
    const isAvailable = (home: ObjectLocation): boolean => this.isAvailable(home);
    const { catalog, toPack, objects } = this;
    for (let pack = 0; pack < catalog.packs.length; pack++) {
      if (toPack.sizeOf(pack) === 0) continue;
      this.parts[pack] = await findVerbatimPart(catalog, pack, toPack, isAvailable, objects.budget);
    }
  }

  private countVerbatim(count: number): void {
    this.report.verbatim += count;
    if (count > 0) this.report.verbatimPacks++;
  }

  /** All of the pack but its trailer. */
  private async *entries(): AsyncGenerator<Uint8Array> {
    const { catalog, toPack } = this;
    this.push(formatPackHeader(toPack.size));
    for (let pack = 0; pack < catalog.packs.length; pack++) {
      const count = toPack.sizeOf(pack);
      if (count === 0) continue;
      const part = this.parts[pack];
      if (part) {
        this.partStarts[pack] = this.offset;
        yield* this.copy(pack, PACK_HEADER_BYTES, part.end);
      }
      const isWhole = part?.isWhole === true;
      const rest = isWhole ? 0 : yield* this.writeEntries(pack);
      if (part) this.countVerbatim(count - rest);
    }
    yield this.take();
  }

  /** Writes entries of a pack one by one. Returns their number. */
  private async *writeEntries(pack: number): AsyncGenerator<Uint8Array, number> {
    const { catalog, toPack } = this;
    const { budget } = this.objects;
    const entries = await SourceEntries.find(catalog, pack, toPack, budget, this.parts[pack]);
    const { positions } = entries;
    this.written[pack] = new PositionNumbers(toPack.capacity(pack), positions.length);
    let sweepEnd = 0;
    const tableBytes = entries.heldBytes + this.writtenBytes;
    // Sorting holds the entries twice.
    this.options.gauge?.(tableBytes + entries.heldBytes);
    for (let at = 0; at < positions.length;) {
      if (at >= sweepEnd) sweepEnd = await this.sweep(pack, entries, at);
      const { stop, start, end } = findRun(entries, at);
      const { location: first, base } = entries.at(at);
      if (end - start > READ_BYTES && !base) {
        // The range read, the piece made of it, and the piece being sent.
        this.options.gauge?.(tableBytes + 3 * READ_BYTES);
        this.recordStart(first, this.offset);
        this.report.reused++;
        yield* this.copy(pack, start, end);
        at = stop;
        continue;
      }
      const run = await catalog.pack(pack).source.read(start, end);
      this.options.gauge?.(tableBytes + run.length + 2 * PIECE_BYTES + this.reencodedBytes);
      for (; at < Math.min(stop, sweepEnd); at++) {
        const pausing = budget.pause(ENTRY_STEPS);
        if (pausing) await pausing;
        const entry = entries.at(at);
        const stored = run.subarray(entry.start - start, entry.end - start);
        const large = await this.write(entry, stored);
        if (large) yield* this.writeLarge(entry, large);
        if (this.pieceBytes >= PIECE_BYTES) yield this.take();
      }
    }
    return positions.length;
  }

  /** Size of `written` in bytes. */
  private get writtenBytes(): number {
    return this.written.reduce((sum, starts) => sum + starts.heldBytes, 0);
  }

  /** Copies a range of a pack: over one connection if it is long and that is possible. */
  private async *copy(pack: number, start: number, end: number): AsyncGenerator<Uint8Array> {
    const { source } = this.catalog.pack(pack);
    if (end - start > READ_BYTES && source.stream) {
      yield this.take();
      this.offset += end - start;
      yield* source.stream(start, end, this.spacing);
      return;
    }
    for (let at = start; at < end; at += READ_BYTES) {
      this.push(await source.read(at, Math.min(end, at + READ_BYTES)));
      if (this.pieceBytes >= PIECE_BYTES) yield this.take();
    }
  }

  /**
   * Resolves the next objects whose delta base is not available to the receiver. Returns the index
   * after the last object considered.
   */
  private async sweep(pack: number, entries: SourceEntries, first: number): Promise<number> {
    const { positions } = entries;
    const reencoded: number[] = [];
    let bytes = 0;
    let at = first;
    for (; at < positions.length && bytes < SWEEP_BYTES; at++) {
      const pausing = this.objects.budget.pause(ENTRY_STEPS);
      if (pausing) await pausing;
      const base = entries.base(at);
      if (!base) continue;
      const sizeBytes = entries.sizeBytes(at);
      if (sizeBytes > SWEEP_BYTES) continue;
      const home = this.findSentBase(base) ?? (await this.findBase(base));
      if (this.isAvailable(home)) continue;
      reencoded.push(positions[at] as number);
      bytes += sizeBytes;
    }
    this.reencodedBytes = bytes;
    const { writtenBytes } = this;
    const sweeping: Gauge = (held) => this.options.gauge?.(writtenBytes + held);
    // A single object is read on its own later.
    this.inflated =
      reencoded.length > 1
        ? await sweepChains(this.catalog, pack, reencoded, sweeping, this.objects.budget)
        : new Map<number, never>();
    return at;
  }

  /**
   * Whether the receiver can apply a delta against an object: it is in the new pack, or the
   * receiver has it.
   */
  private isAvailable(home: ObjectLocation): boolean {
    return this.toPack.has(home) || this.options.receiverHas?.has(home) === true;
  }

  /**
   * The location of a delta's base in the sets of this pack; undefined if finding it would need a
   * block.
   */
  private findSentBase(base: ObjectLocation): ObjectLocation | undefined {
    const local = this.catalog.tableHome(base);
    return !this.catalog.isByBlock || this.isAvailable(local) ? local : undefined;
  }

  private findBase(base: ObjectLocation): Promise<ObjectLocation> {
    return resident(() => this.catalog.home(base));
  }

  /**
   * Writes an object. Returns its chain if the object does not fit in memory and must be written by
   * `writeLarge`.
   */
  private async write(
    { location, base }: ObjectEntry,
    stored: Uint8Array,
  ): Promise<StoredChain | undefined> {
    const start = this.offset;
    this.recordStart(location, start);
    const { report } = this;
    const header = readEntryHeader(stored, 0);
    if (!header) throw corrupt("pack: entry cut off");
    if (header.type < OFS_DELTA) {
      this.push(stored);
      report.reused++;
    } else {
      const data = stored.subarray(header.next);
      if (!base) throw corrupt("pack: delta without base in the sidecar");
      const home = this.findSentBase(base) ?? (await this.findBase(base));
      const isSent = this.toPack.has(home);
      const baseStart = isSent ? await this.startOf(home) : 0;
      const isDelta = this.isAvailable(home);
      if (isDelta) {
        report.deltas++;
        report.reused++;
        report.reusedDeltas++;
      }
      if (baseStart > 0 && this.options.takesOfsDelta) {
        this.push(formatEntryHeader(OFS_DELTA, header.sizeBytes));
        this.push(formatBaseDistance(start - baseStart));
        this.push(data);
      } else if (isDelta) {
        this.push(formatEntryHeader(REF_DELTA, header.sizeBytes));
        const { bytes, offset } = await resident(() => this.catalog.rawOid(base));
        this.push(bytes.subarray(offset, offset + OID_BYTES));
        this.push(data);
      } else {
        const swept = this.inflated.get(location.position);
        this.inflated.delete(location.position);
        const chain = swept
          ? undefined
          : await resident(() => this.objects.findLarge(this.catalog.oid(location)));
        if (chain) return chain;
        const content = swept ?? (await this.objects.readAt(location));
        const kind = await resident(() => this.catalog.kind(location));
        this.isReproducible = false;
        this.push(formatEntryHeader(kind, content.length));
        this.push(await this.deflate(content));
      }
    }
    return undefined;
  }

  private async deflate(content: Uint8Array): Promise<Uint8Array> {
    const { codec, compressor } = this.options;
    const { budget } = this.objects;
    if (compressor && content.length > DEFLATED_TOGETHER) {
      return deflateInPieces(content, compressor.open("zlib"), budget);
    }
    await budget.pause(DEFLATED_BYTE_STEPS * content.length);
    return codec.deflate(content);
  }

  /** Where an object is in the new pack, in bytes; 0 if it is not written yet. */
  private async startOf({ pack, position }: ObjectLocation): Promise<number> {
    const partStart = this.partStarts[pack];
    if (partStart === undefined || !this.parts[pack]?.holds(position)) {
      return this.written[pack]?.get(position) ?? 0;
    }
    const { start } = await resident(() => this.catalog.range({ pack, position }));
    return partStart + start - PACK_HEADER_BYTES;
  }

  private recordStart(location: ObjectLocation, start: number): void {
    this.written[location.pack]?.set(location.position, start);
  }

  /** Resolves an object in scratch and writes it uncompressed, piece by piece. */
  private async *writeLarge(
    { location, sizeBytes }: ObjectEntry,
    chain: StoredChain,
  ): AsyncGenerator<Uint8Array> {
    const { openScratch, codec } = this.options;
    if (!this.large && !openScratch) throw overLimit("object too large");
    if (openScratch) this.large ??= new LargeContents(await openScratch(), codec);
    const large = this.large as LargeContents;
    await large.keepChain(LARGE_NODE, chain);
    const kind = await resident(() => this.catalog.kind(location));
    this.push(formatEntryHeader(kind, sizeBytes));
    for await (const piece of storedStream(large.read(LARGE_NODE))) {
      this.push(piece);
      if (this.pieceBytes >= PIECE_BYTES) yield this.take();
    }
    large.drop(LARGE_NODE);
    yield this.take();
  }

  private push(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.pieceBytes += bytes.length;
    this.offset += bytes.length;
  }

  private take(): Uint8Array {
    const { gapBytes, pieceBytes } = this.spacing;
    const gaps = gapBytes * Math.ceil(this.pieceBytes / pieceBytes);
    const joined = new Uint8Array(this.pieceBytes + gaps);
    let at = 0;
    let left = 0;
    for (const piece of this.pieces) {
      for (let from = 0; from < piece.length;) {
        if (left === 0) {
          at += gapBytes;
          left = pieceBytes;
        }
        const some = piece.subarray(from, from + left);
        joined.set(some, at);
        at += some.length;
        from += some.length;
        left -= some.length;
      }
    }
    this.pieces = [];
    this.pieceBytes = 0;
    return joined;
  }
}

/** Hashes the pieces in a buffer. */
function updateSpaced(hash: Hash, bytes: Uint8Array, { gapBytes, pieceBytes }: Spacing): void {
  for (let at = gapBytes; at < bytes.length; at += pieceBytes + gapBytes) {
    hash.update(bytes.subarray(at, at + pieceBytes));
  }
}

/** Finds the entries from `first` on that are read together: up to `stop`. */
function findRun(
  entries: SourceEntries,
  first: number,
): { stop: number; start: number; end: number } {
  const { start, end: firstEnd } = entries.range(first);
  let end = firstEnd;
  let stop = first + 1;
  for (; stop < entries.positions.length; stop++) {
    const next = entries.range(stop);
    if (next.start - end > GAP_BYTES_MAX || next.end - start > READ_BYTES) break;
    end = next.end;
  }
  return { stop, start, end };
}
