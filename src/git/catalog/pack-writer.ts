import type { Codec, Compressor, Hash } from "../codec.ts";
import { corrupt, overLimit } from "../error.ts";
import { OID_BYTES } from "../oid.ts";
import { sweepEntries } from "./chain-sweep.ts";
import { READ_BYTES } from "./entry-runs.ts";
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

/** Node number of the large object in scratch: there is one at a time. */
const LARGE_NODE = 0;
/** Target size of the pieces that are yielded, in bytes. */
const PIECE_BYTES = 64 * 1024;
/** How pieces are laid out for a receiver that takes the bytes of a pack alone. */
const PLAIN: Spacing = { gapBytes: 0, pieceBytes: 256 * 1024, count: 1 };
/** A pack that is sent with at least so many bytes verbatim is worth a known trailer. */
const TRAILER_BYTES_MIN = 4 * 1024 * 1024;
/** Entries that are read in one pass, and objects among them that are re-encoded, at most. */
const PASS_ENTRIES = 8192;
const PASS_REENCODED = 1024;
/**
 * Level of compression of what is re-encoded: it takes half of the usual time, and a tenth more
 * bytes.
 */
const SENT_LEVEL = 1;
/** Size limit of the objects that are resolved in a pass, in bytes. */
const RESOLVED_BYTES_MAX = 4 * 1024 * 1024;

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

/** An entry to be written. */
interface PlannedEntry {
  readonly entry: ObjectEntry;
  /** The home of its base, if it is a delta. */
  readonly home: ObjectLocation | undefined;
  /** Whether it is inflated, to be stored whole. */
  readonly isResolved: boolean;
}

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
 * pack is generated on demand: for a slow receiver, memory holds what a pass over the entries does,
 * independent of object sizes.
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
    const tableBytes = entries.heldBytes + this.writtenBytes;
    // Sorting holds the entries twice.
    this.options.gauge?.(tableBytes + entries.heldBytes);
    const sweeping: Gauge = (held) => this.options.gauge?.(tableBytes + 2 * PIECE_BYTES + held);
    const options = { codec: this.options.codec, gauge: sweeping, budget };
    for (let at = 0; at < positions.length;) {
      const { start, end, base, location } = entries.at(at);
      if (!base && end - start > READ_BYTES) {
        // The range read, the piece made of it, and the piece being sent.
        this.options.gauge?.(tableBytes + 3 * READ_BYTES);
        this.recordStart(location, this.offset);
        this.report.reused++;
        yield* this.copy(pack, start, end);
        at++;
        continue;
      }
      const planned = await this.planPass(entries, at);
      at += planned.length;
      for await (const some of sweepEntries(catalog, pack, planned, options)) {
        for (const { item, stored, content } of some) {
          const pausing = budget.pause(ENTRY_STEPS);
          if (pausing) await pausing;
          const large = await this.write(item, stored, content);
          if (large) yield* this.writeLarge(item.entry, large);
          if (this.pieceBytes >= PIECE_BYTES) yield this.take();
        }
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
   * The entries from `first` on that are read in one pass, up to a long one that is copied by
   * itself.
   */
  private async planPass(entries: SourceEntries, first: number): Promise<PlannedEntry[]> {
    const planned: PlannedEntry[] = [];
    let reencoded = 0;
    for (let at = first; at < Math.min(first + PASS_ENTRIES, entries.positions.length); at++) {
      const pausing = this.objects.budget.pause(ENTRY_STEPS);
      if (pausing) await pausing;
      const entry = entries.at(at);
      const { base, start, end, sizeBytes } = entry;
      if (!base && end - start > READ_BYTES) break;
      const home = base && (this.findSentBase(base) ?? (await this.findBase(base)));
      const isReencoded = home !== undefined && !this.isAvailable(home);
      planned.push({ entry, home, isResolved: isReencoded && sizeBytes <= RESOLVED_BYTES_MAX });
      if (isReencoded && ++reencoded === PASS_REENCODED) break;
    }
    return planned;
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
    { entry: { location, base }, home }: PlannedEntry,
    stored: Uint8Array,
    resolved: Uint8Array | undefined,
  ): Promise<StoredChain | undefined> {
    const start = this.offset;
    this.recordStart(location, start);
    const { report } = this;
    const header = readEntryHeader(stored, 0);
    if (!header) throw corrupt("pack: entry cut off");
    if (header.type < OFS_DELTA) {
      this.push(stored);
      report.reused++;
      return undefined;
    }
    if (!base || !home) throw corrupt("pack: delta without base in the sidecar");
    if (!this.isAvailable(home)) return this.reencode(location, resolved);
    report.deltas++;
    report.reused++;
    report.reusedDeltas++;
    const baseStart = this.toPack.has(home) ? await this.startOf(home) : 0;
    if (baseStart > 0 && this.options.takesOfsDelta) {
      this.push(formatEntryHeader(OFS_DELTA, header.sizeBytes));
      this.push(formatBaseDistance(start - baseStart));
    } else {
      this.push(formatEntryHeader(REF_DELTA, header.sizeBytes));
      const { bytes, offset } = await resident(() => this.catalog.rawOid(base));
      this.push(bytes.subarray(offset, offset + OID_BYTES));
    }
    this.push(stored.subarray(header.next));
    return undefined;
  }

  /** Writes an object whole, as `write` does. */
  private async reencode(
    location: ObjectLocation,
    resolved: Uint8Array | undefined,
  ): Promise<StoredChain | undefined> {
    if (!resolved) {
      const chain = await resident(() => this.objects.findLarge(this.catalog.oid(location)));
      if (chain) return chain;
    }
    const content = resolved ?? (await this.objects.readAt(location));
    const kind = await resident(() => this.catalog.kind(location));
    this.isReproducible = false;
    this.push(formatEntryHeader(kind, content.length));
    this.push(await this.deflate(content));
    return undefined;
  }

  private async deflate(content: Uint8Array): Promise<Uint8Array> {
    const { codec, compressor } = this.options;
    const { budget } = this.objects;
    if (compressor && content.length > DEFLATED_TOGETHER) {
      return deflateInPieces(content, compressor.open("zlib", SENT_LEVEL), budget);
    }
    await budget.pause(DEFLATED_BYTE_STEPS * content.length);
    return codec.deflate(content, SENT_LEVEL);
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
