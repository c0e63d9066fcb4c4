import type { ByteText } from "../byte-text.ts";
import { isRegularMode } from "../object/tree.ts";
import { sweepEntries } from "../catalog/chain-sweep.ts";
import type { Codec } from "../codec.ts";
import type { PackCatalog, ObjectLocation } from "../catalog/pack-catalog.ts";
import type { PackedObjects } from "../catalog/packed-objects.ts";
import type { Gauge } from "../store.ts";
import { joinBytes } from "../wire/pkt-line.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { exportContent, isConverted } from "./export-content.ts";
import type { FormattedCommit } from "./format-commit.ts";
import type { ListedEntry } from "./list-entries.ts";

/** Contents that are read together, in bytes. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** Maximum entries of one window. */
const WINDOW_ENTRIES_MAX = 4096;
/** Larger contents are streamed, in bytes. */
const WHOLE_BYTES_MAX = 1024 * 1024;
/** Larger contents are exported as stored, regardless of attributes, in bytes. */
const CONVERTED_BYTES_MAX = 16 * 1024 * 1024;

export interface ReadingOptions {
  /** The prefix of all paths: the name of the top folder and a slash. */
  readonly prefix: ByteText;
  readonly commit: FormattedCommit;
  /** Streams the content of a blob of any size, in pieces that the consumer may keep. */
  readonly stream: (location: ObjectLocation) => AsyncIterable<Uint8Array>;
  readonly codec: Codec;
  readonly gauge: Gauge;
}

/**
 * Reads the contents of entries ahead, many at a time and in the order of their packs, and yields
 * the entries in their original order.
 *
 * Holds one window of contents, up to 4 MB, plus the memory to resolve its deltas while it is read;
 * contents larger than 1 MB are streamed.
 */
export async function* readEntries(
  catalog: PackCatalog,
  objects: PackedObjects,
  listed: AsyncIterable<ListedEntry>,
  options: ReadingOptions,
): AsyncGenerator<ArchiveEntry> {
  const reader = new EntryReader(catalog, objects, options);
  let window: ListedEntry[] = [];
  let bytes = 0;
  for await (const entry of listed) {
    window.push(entry);
    const sizeBytes = entry.location ? catalog.sizeBytes(entry.location) : 0;
    if (sizeBytes <= WHOLE_BYTES_MAX) bytes += sizeBytes;
    if (bytes < WINDOW_BYTES && window.length < WINDOW_ENTRIES_MAX) continue;
    yield* reader.read(window);
    window = [];
    bytes = 0;
  }
  yield* reader.read(window);
  options.gauge(0);
}

class EntryReader {
  private readonly catalog: PackCatalog;
  private readonly objects: PackedObjects;
  private readonly options: ReadingOptions;

  constructor(catalog: PackCatalog, objects: PackedObjects, options: ReadingOptions) {
    this.catalog = catalog;
    this.objects = objects;
    this.options = options;
  }

  async *read(window: readonly ListedEntry[]): AsyncGenerator<ArchiveEntry> {
    const contents = await this.readTogether(window);
    for (const entry of window) yield await this.toEntry(entry, contents);
  }

  /**
   * Reads the small contents of a window, by pack and position. Missing contents are read
   * individually.
   */
  private async readTogether(window: readonly ListedEntry[]): Promise<Map<number, Uint8Array>[]> {
    const { catalog, objects, options } = this;
    const locations = catalog.packs.map(() => new Map<number, ObjectLocation>());
    for (const { location } of window) {
      if (!location || catalog.sizeBytes(location) > WHOLE_BYTES_MAX) continue;
      locations[location.pack]?.set(location.position, location);
    }
    const contents: Map<number, Uint8Array>[] = [];
    const { codec, gauge } = options;
    let heldBytes = 0;
    const sweeping: Gauge = (bytes) => gauge(heldBytes + bytes);
    for (const [pack, byPosition] of locations.entries()) {
      const found = new Map<number, Uint8Array>();
      contents.push(found);
      const requested = Array.from(byPosition.values(), (location) => ({
        entry: catalog.entry(location),
        isResolved: true,
      }));
      const sweep = { codec, gauge: sweeping, budget: objects.budget };
      for await (const some of sweepEntries(catalog, pack, requested, sweep)) {
        for (const { item, content } of some) {
          if (!content) continue;
          found.set(item.entry.location.position, content);
          heldBytes += content.length;
        }
      }
    }
    gauge(heldBytes);
    return contents;
  }

  private async toEntry(
    { path, mode, oid, location, rules }: ListedEntry,
    contents: readonly ReadonlyMap<number, Uint8Array>[],
  ): Promise<ArchiveEntry> {
    const { prefix, commit, stream } = this.options;
    const entry = { path: (prefix + path) as ByteText, mode, oid, isBinary: rules.isBinary };
    if (!location) return { ...entry, sizeBytes: 0, content: new Uint8Array(0) };
    const sizeBytes = this.catalog.sizeBytes(location);
    const isFile = isRegularMode(mode);
    const isChanged =
      isFile &&
      isConverted(rules) &&
      sizeBytes <= CONVERTED_BYTES_MAX &&
      !this.objects.findLarge(oid);
    if (sizeBytes > WHOLE_BYTES_MAX && isFile && !isChanged) {
      return { ...entry, sizeBytes, content: stream(location) };
    }
    const stored =
      contents[location.pack]?.get(location.position) ?? (await this.readAlone(location));
    const content = isChanged ? exportContent(stored, oid, rules, commit) : stored;
    return { ...entry, sizeBytes: content.length, content };
  }

  /** Reads a small content that may be stored as a delta against a large one. */
  private async readAlone(location: ObjectLocation): Promise<Uint8Array> {
    if (!this.objects.findLarge(this.catalog.oid(location))) return this.objects.readAt(location);
    const pieces: Uint8Array[] = [];
    for await (const piece of this.options.stream(location)) pieces.push(piece);
    return joinBytes(pieces);
  }
}
