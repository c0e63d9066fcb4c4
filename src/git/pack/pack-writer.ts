import type { Codec } from "../codec.ts";
import { corrupt, overLimit } from "../error.ts";
import { OID_BYTES } from "../oid.ts";
import { sweepChains } from "./chain-sweep.ts";
import {
  formatBaseDistance,
  formatEntryHeader,
  OFS_DELTA,
  readEntryHeader,
  REF_DELTA,
} from "./entry-header.ts";
import { LargeContents } from "./large-contents.ts";
import type { PackCatalog, ObjectLocation } from "./pack-catalog.ts";
import type { PackedObjects } from "./packed-objects.ts";
import { formatPackHeader } from "./pack-scanner.ts";
import type { LocationSet } from "./location-set.ts";
import type { Gauge, Scratch, StoredChain } from "../store.ts";
import { storedStream } from "../zlib/stored-stream.ts";

/** Stored entries are read in runs of about this size, in bytes. */
const READ_BYTES = 1024 * 1024;
/** Bytes that are not wanted and read all the same, to save a read. */
const GAP_BYTES_MAX = 64 * 1024;
/** The one large object that is made at a time. */
const LARGE_NODE = 0;
/** Bytes are handed on in pieces of about this size. */
const PIECE_BYTES = 64 * 1024;
/** Objects that must be deflated anew are made together up to this many bytes. */
const SWEEP_BYTES = 4 * 1024 * 1024;

export interface PackWriterOptions {
  readonly codec: Codec;
  /** The receiver understands deltas that name their base by offset. */
  readonly takesOfsDelta: boolean;
  /** Where a delta is resolved that is too large for memory. Without it, such an object is refused. */
  readonly openScratch?: () => Promise<Scratch>;
  readonly gauge?: Gauge | undefined;
  /** Objects that the receiver has: bases of a thin pack. Undefined where none may be assumed. */
  readonly receiverHas?: LocationSet;
}

/** What a pack was made of, for the last line that git shows. */
export interface PackReport {
  /** Objects that are deltas in the new pack. */
  deltas: number;
  /** Objects whose entries were copied. */
  reused: number;
  reusedDeltas: number;
}

/**
 * A pack of the given objects, copied as they are stored wherever that is possible.
 *
 * An entry is copied compressed, in the order in which its pack holds it. A delta stays one if its
 * base is sent too or the receiver has it; otherwise the object is inflated and deflated whole.
 * Nothing is made before it is asked for: a slow receiver holds one run of entries in memory, about
 * `READ_BYTES` or one delta, however large the objects are, and up to `SWEEP_BYTES` of objects to be
 * deflated.
 *
 * @param wanted Each object by its home (`PackCatalog.home`), once.
 * @returns What it was made of.
 */
export async function* writePack(
  catalog: PackCatalog,
  objects: PackedObjects,
  wanted: LocationSet,
  options: PackWriterOptions,
): AsyncGenerator<Uint8Array, PackReport> {
  const writer = new PackWriter(catalog, objects, wanted, options);
  return yield* writer.run();
}

class PackWriter {
  private readonly catalog: PackCatalog;
  private readonly objects: PackedObjects;
  private readonly wanted: LocationSet;
  private readonly options: PackWriterOptions;
  /** Where each object written so far starts in the new pack, by pack and position. */
  private readonly written: Float64Array[];
  private readonly report: PackReport = { deltas: 0, reused: 0, reusedDeltas: 0 };
  /** Contents of objects of the current pack that are deflated anew, made and not written yet. */
  private inflated = new Map<number, Uint8Array>();
  private remadeBytes = 0;
  private large: LargeContents | undefined;
  private offset = 0;
  private pieces: Uint8Array[] = [];
  private pieceBytes = 0;

  constructor(
    catalog: PackCatalog,
    objects: PackedObjects,
    wanted: LocationSet,
    options: PackWriterOptions,
  ) {
    this.catalog = catalog;
    this.objects = objects;
    this.wanted = wanted;
    this.options = options;
    this.written = catalog.packs.map((_, pack) => new Float64Array(wanted.capacity(pack)));
  }

  async *run(): AsyncGenerator<Uint8Array, PackReport> {
    const hash = this.options.codec.createSha1();
    this.push(formatPackHeader(this.wanted.size));
    for (let pack = 0; pack < this.catalog.packs.length; pack++) {
      const positions = this.inPackOrder(pack);
      let sweepEnd = 0;
      const tableBytes = positions.byteLength + this.writtenBytes;
      // Sorted, they are there twice.
      this.options.gauge?.(tableBytes + positions.byteLength);
      for (let at = 0; at < positions.length;) {
        if (at >= sweepEnd) sweepEnd = await this.sweep(pack, positions, at);
        const { stop, start, end } = this.findRun(pack, positions, at);
        const first = { pack, position: positions[at] as number };
        if (end - start > READ_BYTES && !this.catalog.base(first)) {
          // The range, the piece made of it, and the one that is being sent.
          this.options.gauge?.(tableBytes + 3 * READ_BYTES);
          for await (const piece of this.copyLong(first, start, end)) {
            hash.update(piece);
            yield piece;
          }
          at = stop;
          continue;
        }
        const run = await this.catalog.pack(pack).source.read(start, end);
        this.options.gauge?.(tableBytes + run.length + 2 * PIECE_BYTES + this.remadeBytes);
        for (; at < Math.min(stop, sweepEnd); at++) {
          const place = { pack, position: positions[at] as number };
          const entry = this.catalog.range(place);
          const stored = run.subarray(entry.start - start, entry.end - start);
          const large = await this.write(place, stored);
          if (large) {
            for await (const piece of this.writeLarge(place, large)) {
              hash.update(piece);
              yield piece;
            }
          }
          if (this.pieceBytes < PIECE_BYTES) continue;
          const piece = this.take();
          hash.update(piece);
          yield piece;
        }
      }
    }
    const piece = this.take();
    hash.update(piece);
    yield piece;
    yield hash.digest();
    this.options.gauge?.(0);
    return this.report;
  }

  /** Bytes of `written`. */
  private get writtenBytes(): number {
    return this.written.reduce((sum, starts) => sum + starts.byteLength, 0);
  }

  /** The wanted objects of a pack in the order of their entries. */
  private inPackOrder(pack: number): Uint32Array {
    const { idx } = this.catalog.pack(pack);
    const positions = Uint32Array.from(this.wanted.positions(pack));
    return positions.toSorted((a, b) => idx.offset(a) - idx.offset(b));
  }

  /** The entries from `first` on that are read together: `positions[first..stop)`. */
  private findRun(
    pack: number,
    positions: Uint32Array,
    first: number,
  ): { stop: number; start: number; end: number } {
    const { start, end: firstEnd } = this.catalog.range({
      pack,
      position: positions[first] as number,
    });
    let end = firstEnd;
    let stop = first + 1;
    for (; stop < positions.length; stop++) {
      const next = this.catalog.range({ pack, position: positions[stop] as number });
      if (next.start - end > GAP_BYTES_MAX || next.end - start > READ_BYTES) break;
      end = next.end;
    }
    return { stop, start, end };
  }

  /** A whole object whose entry is longer than a run, copied in pieces. */
  private async *copyLong(location: ObjectLocation, start: number, end: number): AsyncGenerator<Uint8Array> {
    this.note(location, this.offset);
    this.report.reused++;
    for (let at = start; at < end; at += READ_BYTES) {
      const stop = Math.min(end, at + READ_BYTES);
      this.push(await this.catalog.pack(location.pack).source.read(at, stop));
      yield this.take();
    }
  }

  /**
   * Makes the contents of the next objects that are deltas of what is not sent. Returns up to where.
   */
  private async sweep(pack: number, positions: Uint32Array, first: number): Promise<number> {
    const { sizes } = this.catalog.pack(pack).sidecar;
    const remade: number[] = [];
    let bytes = 0;
    let at = first;
    for (; at < positions.length && bytes < SWEEP_BYTES; at++) {
      const position = positions[at] as number;
      const size = sizes[position] as number;
      if (size > SWEEP_BYTES || !this.isRemade({ pack, position })) continue;
      remade.push(position);
      bytes += size;
    }
    this.remadeBytes = bytes;
    const { writtenBytes } = this;
    const sweeping: Gauge = (held) => this.options.gauge?.(writtenBytes + held);
    // One alone is read as well by itself.
    this.inflated =
      remade.length > 1
        ? await sweepChains(this.catalog, pack, remade, sweeping)
        : new Map<number, never>();
    return at;
  }

  /** True for a delta whose base is neither sent nor there. */
  private isRemade(location: ObjectLocation): boolean {
    const base = this.catalog.base(location);
    if (!base || this.wanted.has(base)) return false;
    const home = this.catalog.home(base);
    return !this.wanted.has(home) && this.options.receiverHas?.has(home) !== true;
  }

  /** Returns how an object is stored that does not fit memory: `writeLarge` has to write it. */
  private async write(location: ObjectLocation, stored: Uint8Array): Promise<StoredChain | undefined> {
    const start = this.offset;
    this.note(location, start);
    const { report } = this;
    const header = readEntryHeader(stored, 0);
    if (!header) throw corrupt("pack: entry cut off");
    if (header.type < OFS_DELTA) {
      this.push(stored);
      report.reused++;
    } else {
      const data = stored.subarray(header.next);
      const base = this.catalog.base(location);
      if (!base) throw corrupt("pack: delta without base in the sidecar");
      const home = this.catalog.home(base);
      const baseStart = this.written[home.pack]?.[home.position] ?? 0;
      const isSent = this.wanted.has(home);
      const isDelta = isSent || this.options.receiverHas?.has(home);
      if (isDelta) {
        report.deltas++;
        report.reused++;
        report.reusedDeltas++;
      }
      if (isSent && baseStart > 0 && this.options.takesOfsDelta) {
        this.push(formatEntryHeader(OFS_DELTA, header.sizeBytes));
        this.push(formatBaseDistance(start - baseStart));
        this.push(data);
      } else if (isDelta) {
        this.push(formatEntryHeader(REF_DELTA, header.sizeBytes));
        const { oids } = this.catalog.pack(base.pack).idx;
        this.push(oids.subarray(base.position * OID_BYTES, (base.position + 1) * OID_BYTES));
        this.push(data);
      } else {
        const swept = this.inflated.get(location.position);
        this.inflated.delete(location.position);
        const chain = swept ? undefined : this.objects.findLarge(this.catalog.oid(location));
        if (chain) return chain;
        const content = swept ?? (await this.objects.readAt(location));
        this.push(formatEntryHeader(this.catalog.kind(location), content.length));
        this.push(this.options.codec.deflate(content));
      }
    }
    return undefined;
  }

  private note(location: ObjectLocation, start: number): void {
    const written = this.written[location.pack];
    if (written) written[location.position] = start;
  }

  /** An object without its base, made in scratch and sent uncompressed, piece by piece. */
  private async *writeLarge(location: ObjectLocation, chain: StoredChain): AsyncGenerator<Uint8Array> {
    const { openScratch, codec } = this.options;
    if (!this.large && !openScratch) throw overLimit("object too large");
    if (openScratch) this.large ??= new LargeContents(await openScratch(), codec);
    const large = this.large as LargeContents;
    await large.keepChain(LARGE_NODE, chain);
    this.push(formatEntryHeader(this.catalog.kind(location), this.catalog.sizeBytes(location)));
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
    const joined = new Uint8Array(this.pieceBytes);
    let at = 0;
    for (const piece of this.pieces) {
      joined.set(piece, at);
      at += piece.length;
    }
    this.pieces = [];
    this.pieceBytes = 0;
    return joined;
  }
}
