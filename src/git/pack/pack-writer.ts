import type { Codec } from "../codec.ts";
import type { Gauge } from "../store.ts";
import { corrupt } from "../error.ts";
import { OID_BYTES } from "../oid.ts";
import {
  formatBaseDistance,
  formatEntryHeader,
  OFS_DELTA,
  readEntryHeader,
  REF_DELTA,
} from "./entry-header.ts";
import type { PackCatalog, Place } from "./pack-catalog.ts";
import type { PackedObjects } from "./packed-objects.ts";
import { formatPackHeader } from "./pack-scanner.ts";
import type { PlaceSet } from "./place-set.ts";

/** Stored entries are read in runs of about this size, in bytes. */
const READ_BYTES = 1024 * 1024;
/** Bytes that are not wanted and read all the same, to save a read. */
const GAP_BYTES_MAX = 64 * 1024;
/** Bytes are handed on in pieces of about this size. */
const PIECE_BYTES = 64 * 1024;

export interface PackWriterOptions {
  readonly codec: Codec;
  /** The receiver understands deltas that name their base by offset. */
  readonly takesOfsDelta: boolean;
  readonly gauge?: Gauge | undefined;
  /** Objects that the receiver has: bases of a thin pack. Undefined where none may be assumed. */
  readonly receiverHas?: PlaceSet;
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
 * `READ_BYTES` or one delta, however large the objects are.
 *
 * @param wanted Each object by its home (`PackCatalog.home`), once.
 * @returns What it was made of.
 */
export async function* writePack(
  catalog: PackCatalog,
  objects: PackedObjects,
  wanted: PlaceSet,
  options: PackWriterOptions,
): AsyncGenerator<Uint8Array, PackReport> {
  const writer = new PackWriter(catalog, objects, wanted, options);
  return yield* writer.run();
}

class PackWriter {
  private readonly catalog: PackCatalog;
  private readonly objects: PackedObjects;
  private readonly wanted: PlaceSet;
  private readonly options: PackWriterOptions;
  /** Where each object written so far starts in the new pack, by pack and position. */
  private readonly written: Float64Array[];
  private readonly report: PackReport = { deltas: 0, reused: 0, reusedDeltas: 0 };
  private offset = 0;
  private pieces: Uint8Array[] = [];
  private pieceBytes = 0;

  constructor(
    catalog: PackCatalog,
    objects: PackedObjects,
    wanted: PlaceSet,
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
      const tableBytes = positions.byteLength + this.writtenBytes;
      // Sorted, they are there twice.
      this.options.gauge?.(tableBytes + positions.byteLength);
      for (let at = 0; at < positions.length;) {
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
        this.options.gauge?.(tableBytes + run.length + 2 * PIECE_BYTES);
        for (; at < stop; at++) {
          const place = { pack, position: positions[at] as number };
          const entry = this.catalog.range(place);
          await this.write(place, run.subarray(entry.start - start, entry.end - start));
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
  private async *copyLong(place: Place, start: number, end: number): AsyncGenerator<Uint8Array> {
    this.note(place, this.offset);
    for (let at = start; at < end; at += READ_BYTES) {
      const stop = Math.min(end, at + READ_BYTES);
      this.push(await this.catalog.pack(place.pack).source.read(at, stop));
      yield this.take();
    }
  }

  private async write(place: Place, stored: Uint8Array): Promise<void> {
    const start = this.offset;
    const { report } = this;
    const header = readEntryHeader(stored, 0);
    if (!header) throw corrupt("pack: entry cut off");
    if (header.type < OFS_DELTA) {
      this.push(stored);
      report.reused++;
    } else {
      const data = stored.subarray(header.next);
      const base = this.catalog.base(place);
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
        const content = await this.objects.readPlace(place);
        this.push(formatEntryHeader(this.catalog.kind(place), content.length));
        this.push(this.options.codec.deflate(content));
      }
    }
    this.note(place, start);
  }

  private note(place: Place, start: number): void {
    const written = this.written[place.pack];
    if (written) written[place.position] = start;
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
