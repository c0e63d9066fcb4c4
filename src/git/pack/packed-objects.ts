import { corrupt, overLimit } from "../error.ts";
import { kindOf } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import type { Gauge, ObjectReader, StoredChain, StoredObject } from "../store.ts";
import { Inflater } from "../zlib/inflate.ts";
import { applyDelta, readDeltaHeader } from "./delta.ts";
import { readEntryHeader } from "./entry-header.ts";
import { inflateWhole } from "./entry-reader.ts";
import { streamEntry } from "./entry-stream.ts";
import type { PackCatalog, ObjectLocation } from "./pack-catalog.ts";

/** Contents kept because the next object may be a delta of them, in bytes. */
const CACHE_BYTES_MAX = 8 * 1024 * 1024;

/** Largest object that is read whole, in bytes. Larger ones are streamed. */
export const WHOLE_BYTES_MAX = 16 * 1024 * 1024;

/** Pieces in which an object is streamed, in bytes. */
const PIECE_BYTES = 256 * 1024;

/** Reads objects out of the packs of a repository. */
export class PackedObjects implements ObjectReader {
  private readonly catalog: PackCatalog;
  private readonly inflater = new Inflater();
  private readonly cache = new Map<number, Uint8Array>();
  private cachedBytes = 0;
  private readonly gauge: Gauge;

  /** @param gauge Told what is held of contents, and of what finding them takes. */
  constructor(catalog: PackCatalog, gauge: Gauge = () => {}) {
    this.catalog = catalog;
    this.gauge = gauge;
  }

  /** Bytes of the contents that are kept. */
  get heldBytes(): number {
    return this.cachedBytes;
  }

  /**
   * An object with its content, which must not be changed: it may be in the cache.
   *
   * Cost: one read for each delta down to a whole object or one in the cache.
   *
   * @throws GitError `limit` if it is larger than `WHOLE_BYTES_MAX`, `corrupt` if the pack is.
   */
  async readObject(oid: Oid): Promise<StoredObject | undefined> {
    const location = this.catalog.find(oid);
    if (!location) return undefined;
    return { kind: kindOf(this.catalog.kind(location)), content: await this.readAt(location) };
  }

  /** The content of the object at `place`. */
  async readAt(location: ObjectLocation): Promise<Uint8Array> {
    const deltas: ObjectLocation[] = [];
    let at = location;
    let content = this.recall(at);
    while (!content) {
      const base = this.catalog.base(at);
      if (!base) {
        content = await this.readEntry(at, this.catalog.sizeBytes(at));
        break;
      }
      deltas.push(at);
      at = base;
      content = this.recall(at);
    }
    this.remember(at, content);
    for (const delta of deltas.toReversed()) {
      content = await this.applyEntry(delta, content);
      this.remember(delta, content);
    }
    // Beyond the cache, what is handed out is its taker's.
    this.gauge(this.cachedBytes + this.catalog.heldBytes);
    return content;
  }

  /**
   * The content in pieces, for objects of any size. A piece is valid until the next is asked for.
   */
  async *streamAt(location: ObjectLocation): AsyncGenerator<Uint8Array> {
    if (this.catalog.base(location) || this.catalog.sizeBytes(location) <= PIECE_BYTES) {
      yield await this.readAt(location);
      return;
    }
    const { start, end } = this.catalog.range(location);
    yield* streamEntry(this.catalog.pack(location.pack).source, start, end);
  }

  findLarge(oid: Oid): StoredChain | undefined {
    const location = this.catalog.find(oid);
    if (!location) return undefined;
    const locations: ObjectLocation[] = [];
    for (let at: ObjectLocation | undefined = location; at; at = this.catalog.base(at)) locations.push(at);
    if (locations.every((each) => this.catalog.sizeBytes(each) <= WHOLE_BYTES_MAX)) return undefined;
    const entries = locations.toReversed().map((each) => {
      const { start, end } = this.catalog.range(each);
      const { source } = this.catalog.pack(each.pack);
      const sizeBytes = this.catalog.sizeBytes(each);
      return { source, start, end, oid: this.catalog.oid(each), sizeBytes };
    });
    return { kind: kindOf(this.catalog.kind(location)), entries };
  }

  /** Inflates an entry: an object, or a delta. */
  private async readEntry(location: ObjectLocation, sizeBytes?: number): Promise<Uint8Array> {
    if (sizeBytes !== undefined && sizeBytes > WHOLE_BYTES_MAX) throw overLimit("object too large");
    const { start, end } = this.catalog.range(location);
    const bytes = await this.catalog.pack(location.pack).source.read(start, end);
    const header = readEntryHeader(bytes, 0);
    if (!header || (sizeBytes !== undefined && header.sizeBytes !== sizeBytes)) {
      throw corrupt("pack: entry is not what the sidecar says");
    }
    if (header.sizeBytes > WHOLE_BYTES_MAX) throw overLimit("delta too large");
    const content = new Uint8Array(header.sizeBytes);
    inflateWhole(this.inflater, bytes, header.next, bytes.length, content);
    return content;
  }

  private async applyEntry(location: ObjectLocation, base: Uint8Array): Promise<Uint8Array> {
    const delta = await this.readEntry(location);
    const header = readDeltaHeader(delta);
    if (!header) throw corrupt("delta: cut off");
    if (header.resultBytes > WHOLE_BYTES_MAX) throw overLimit("object too large");
    const content = new Uint8Array(header.resultBytes);
    applyDelta(base, delta, header, content);
    return content;
  }

  private recall(location: ObjectLocation): Uint8Array | undefined {
    return this.cache.get(cacheKey(location));
  }

  private remember(location: ObjectLocation, content: Uint8Array): void {
    // While it was made, its base and a delta were there too.
    this.gauge(this.cachedBytes + this.catalog.heldBytes + 3 * content.length);
    if (content.length > CACHE_BYTES_MAX / 4) return;
    const key = cacheKey(location);
    if (!this.cache.delete(key)) this.cachedBytes += content.length;
    this.cache.set(key, content);
    if (this.cachedBytes <= CACHE_BYTES_MAX) return;
    // Many at once: a map that lost entries at its front is slow to find the first one left.
    for (const [oldest, held] of this.cache) {
      this.cache.delete(oldest);
      this.cachedBytes -= held.length;
      if (this.cachedBytes <= (CACHE_BYTES_MAX / 4) * 3) break;
    }
  }
}

function cacheKey({ pack, position }: ObjectLocation): number {
  return pack * 2 ** 32 + position;
}
