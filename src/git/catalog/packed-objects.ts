import { type Budget, UNLIMITED } from "../budget.ts";
import { corrupt, overLimit } from "../error.ts";
import { kindOf } from "../object/kind.ts";
import type { Oid } from "../oid.ts";
import type { Gauge, ObjectReader, StoredChain, StoredObject } from "../store.ts";
import { Inflater } from "../zlib/inflate.ts";
import { applyDelta, readDeltaHeader } from "../pack/delta.ts";
import { readEntryHeader } from "../pack/entry-header.ts";
import { inflateInPieces } from "../pack/entry-reader.ts";
import { streamEntry } from "../pack/entry-stream.ts";
import { resident } from "./block-pool.ts";
import { sweepEntries } from "./chain-sweep.ts";
import type { ObjectEntry, ObjectLocation, PackCatalog } from "./pack-catalog.ts";

/** Maximum size of cached contents, in bytes: the next object may be a delta of one of them. */
const CACHE_BYTES_MAX = 8 * 1024 * 1024;

/** Maximum size of an object that is read into memory, in bytes. Larger ones are streamed. */
export const WHOLE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Objects that are read in one pass at most, and at least: contents that were read before are in
 * the cache.
 */
const TOGETHER_MAX = 1000;
const TOGETHER_MIN = 8;

/** Size of the pieces of a streamed object, in bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * Steps to read an object: for itself, for each entry of its chain, and for each byte copied and
 * parsed.
 */
const STEPS = {
  object: 400,
  entry: 500,
  copiedByte: 0.15,
  parsedByte: 0.3,
} as const;

/** Reads objects from the packs of a repository. */
export class PackedObjects implements ObjectReader {
  private readonly catalog: PackCatalog;
  private readonly inflater = new Inflater();
  private readonly cache: ContentCache;
  private readonly gauge: Gauge;
  /** Bounds the reads, and pauses what walks over objects. */
  readonly budget: Budget;

  /**
   * @param gauge Receives the memory held by contents and by the catalog's offsets, in bytes.
   * @param budget Bounds the reads: each counts the bytes that it inflates and copies, and those
   *   that its caller parses.
   */
  constructor(
    catalog: PackCatalog,
    gauge: Gauge = () => {},
    budget: Budget = UNLIMITED,
    cache: ContentCache = new ContentCache(),
  ) {
    this.catalog = catalog;
    this.gauge = gauge;
    this.budget = budget;
    this.cache = cache;
  }

  /** The same objects, whose reads count in another budget. */
  within(budget: Budget): PackedObjects {
    return new PackedObjects(this.catalog, this.gauge, budget, this.cache);
  }

  /** Size of the cached contents in bytes. */
  get heldBytes(): number {
    return this.cache.heldBytes;
  }

  /**
   * Reads an object. The caller must not modify the content, which may be cached.
   *
   * Cost: one read per delta of the chain, down to an object stored whole or in the cache.
   *
   * @throws GitError `limit` if the object is larger than `WHOLE_BYTES_MAX` or the budget is
   * exhausted, `corrupt` if the pack is corrupt.
   */
  async readObject(oid: Oid): Promise<StoredObject | undefined> {
    const { catalog } = this;
    const find = () => {
      const location = catalog.find(oid);
      return location && { location, kind: catalog.kind(location) };
    };
    const found = catalog.isByBlock ? await resident(find) : find();
    if (!found) return undefined;
    return { kind: kindOf(found.kind), content: await this.readAt(found.location) };
  }

  /** Reads the content of the object at `location`. */
  async readAt(location: ObjectLocation): Promise<Uint8Array> {
    await this.checkBudget();
    const { catalog } = this;
    const deltas: ObjectEntry[] = [];
    let at = location;
    let content = this.getCached(at);
    while (!content) {
      const entry: ObjectEntry = catalog.isByBlock ? await this.findEntry(at) : catalog.entry(at);
      if (!entry.base) {
        content = await this.readEntry(entry, entry.sizeBytes);
        break;
      }
      deltas.push(entry);
      at = entry.base;
      content = this.getCached(at);
    }
    this.addToCache(at, content);
    for (const delta of deltas.toReversed()) {
      await this.checkBudget();
      content = await this.applyEntry(delta, content);
      this.addToCache(delta.location, content);
    }
    // Contents beyond the cache belong to the caller.
    this.gauge(this.cache.heldBytes + this.catalog.heldBytes);
    this.budget.consume(STEPS.object + STEPS.parsedByte * content.length);
    return content;
  }

  /**
   * Reads the contents of objects, in any order. Many of a pack are read in one pass.
   *
   * @throws GitError as `readObject` does.
   */
  async *readTogether(locations: readonly ObjectLocation[]): AsyncGenerator<Uint8Array> {
    const { budget, catalog } = this;
    for (let at = 0; at < locations.length; at += TOGETHER_MAX) {
      const some = locations.slice(at, at + TOGETHER_MAX);
      for (const pack of catalog.packs.keys()) {
        const ofPack = some.filter((location) => location.pack === pack);
        if (ofPack.length < TOGETHER_MIN) {
          for (const location of ofPack) yield await this.readAt(location);
          continue;
        }
        await catalog.loadRows(ofPack);
        const requested: { entry: ObjectEntry; isResolved: true }[] = [];
        for (const location of ofPack) {
          requested.push({ entry: await this.findEntry(location), isResolved: true });
        }
        for await (const swept of sweepEntries(catalog, pack, requested, { budget })) {
          for (const { item, content } of swept) {
            await this.checkBudget();
            budget.consume(STEPS.object + STEPS.parsedByte * (content?.length ?? 0));
            yield content ?? (await this.readAt(item.entry.location));
          }
        }
      }
    }
  }

  private findEntry(location: ObjectLocation): Promise<ObjectEntry> {
    return resident(() => this.catalog.entry(location));
  }

  private checkBudget(): Promise<void> | undefined {
    if (this.budget.isExhausted) throw overLimit("the request takes too much work");
    return this.budget.pause();
  }

  /** Reads an object of any size in pieces. A piece is valid until the next one is requested. */
  async *streamAt(location: ObjectLocation): AsyncGenerator<Uint8Array> {
    const { base, sizeBytes, start, end } = await this.findEntry(location);
    if (base || sizeBytes <= PIECE_BYTES) {
      yield await this.readAt(location);
      return;
    }
    yield* streamEntry(this.catalog.pack(location.pack).source, start, end);
  }

  findLarge(oid: Oid): StoredChain | undefined {
    const location = this.catalog.find(oid);
    if (!location) return undefined;
    const locations: ObjectLocation[] = [];
    for (let at: ObjectLocation | undefined = location; at; at = this.catalog.base(at))
      locations.push(at);
    if (locations.every((each) => this.catalog.sizeBytes(each) <= WHOLE_BYTES_MAX))
      return undefined;
    const entries = locations.toReversed().map((each) => {
      const { start, end } = this.catalog.range(each);
      const { source } = this.catalog.pack(each.pack);
      const sizeBytes = this.catalog.sizeBytes(each);
      return { source, start, end, oid: this.catalog.oid(each), sizeBytes };
    });
    return { kind: kindOf(this.catalog.kind(location)), entries };
  }

  /** Inflates an entry, an object or a delta. */
  private async readEntry(
    { location, start, end }: ObjectEntry,
    sizeBytes?: number,
  ): Promise<Uint8Array> {
    if (sizeBytes !== undefined && sizeBytes > WHOLE_BYTES_MAX) throw overLimit("object too large");
    const bytes = await this.catalog.pack(location.pack).source.read(start, end);
    const header = readEntryHeader(bytes, 0);
    if (!header || (sizeBytes !== undefined && header.sizeBytes !== sizeBytes)) {
      throw corrupt("pack: entry differs from the sidecar");
    }
    if (header.sizeBytes > WHOLE_BYTES_MAX) throw overLimit("delta too large");
    this.budget.consume(STEPS.entry);
    const content = new Uint8Array(header.sizeBytes);
    await inflateInPieces(this.inflater, bytes, header.next, content, this.budget);
    return content;
  }

  private async applyEntry(entry: ObjectEntry, base: Uint8Array): Promise<Uint8Array> {
    const delta = await this.readEntry(entry);
    const header = readDeltaHeader(delta);
    if (!header) throw corrupt("delta: cut off");
    if (header.resultBytes > WHOLE_BYTES_MAX) throw overLimit("object too large");
    this.budget.consume(STEPS.copiedByte * header.resultBytes);
    const content = new Uint8Array(header.resultBytes);
    applyDelta(base, delta, header, content);
    return content;
  }

  private getCached(location: ObjectLocation): Uint8Array | undefined {
    return this.cache.get(cacheKey(location));
  }

  private addToCache(location: ObjectLocation, content: Uint8Array): void {
    // Its base and a delta were in memory at the same time.
    this.gauge(this.cache.heldBytes + this.catalog.heldBytes + 3 * content.length);
    this.cache.set(cacheKey(location), content);
  }
}

function cacheKey({ pack, position }: ObjectLocation): number {
  return pack * 2 ** 32 + position;
}

/** The contents read last, bounded in bytes. */
class ContentCache {
  heldBytes = 0;
  private readonly contents = new Map<number, Uint8Array>();

  get(key: number): Uint8Array | undefined {
    return this.contents.get(key);
  }

  set(key: number, content: Uint8Array): void {
    if (content.length > CACHE_BYTES_MAX / 4) return;
    if (!this.contents.delete(key)) this.heldBytes += content.length;
    this.contents.set(key, content);
    if (this.heldBytes <= CACHE_BYTES_MAX) return;
    // Evicts many entries at once, because a map is slow to find its first entry after deletions at
    // the front.
    for (const [oldest, held] of this.contents) {
      this.contents.delete(oldest);
      this.heldBytes -= held.length;
      if (this.heldBytes <= (CACHE_BYTES_MAX / 4) * 3) break;
    }
  }
}
