import { COMMIT } from "../object/kind.ts";
import type { MergedObjects } from "./merged-objects.ts";
import { DELTA_DEPTH_MAX, type DeltaChains } from "../pack/delta-chains.ts";
import { DeltaEncoder } from "../pack/delta-encoder.ts";
import { NO_ENTRY } from "../pack/pack-table.ts";
import type { PathHints } from "./path-hints.ts";

/** Number of neighbours on each side that an object is compared with, as in git's window. */
const WINDOW = 10;
/** Smallest object worth a delta, and largest object for which a delta is searched, in bytes. */
const OBJECT_BYTES_MIN = 50;
const OBJECT_BYTES_MAX = 4 * 1024 * 1024;
/** Bytes that a delta must save beyond half of its object: a raw id, as in git. */
const SAVED_BYTES_MIN = 20;
/**
 * A delta against the previous version ends the search if it is at most this fraction of the
 * object.
 */
const GOOD_SHARE = 1 / 8;
/** Maximum size of the contents of indexed bases, in bytes. */
const READY_BYTES_MAX = 4 * 1024 * 1024;

/** A delta and its base. */
export interface FoundDelta {
  readonly base: number;
  readonly baseContent: Uint8Array;
  readonly delta: Uint8Array;
}

/** An indexed base, kept for several objects. */
interface ReadyBase {
  readonly encoder: DeltaEncoder;
  readonly content: Uint8Array;
}

export interface DeltaSearchOptions {
  /** Objects of packs before this one are used as bases only if they are predecessors. */
  readonly packsFrom: number;
  /** Maximum size of all compared contents together, in bytes. */
  readonly workBytesMax: number;
  /** True once the read budget is exhausted. */
  isExhausted(): boolean;
  /** Returns the content of an object, verified against its id. */
  read(object: number): Promise<Uint8Array>;
}

/**
 * Searches delta bases among the objects earlier in the order: first the object previously at the
 * same path, then neighbours by kind, path and size.
 */
export class DeltaSearch {
  private readonly objects: MergedObjects;
  private readonly hints: PathHints;
  private readonly chains: DeltaChains;
  private readonly options: DeltaSearchOptions;
  /** Rank of each object in an order in which bases come first. */
  private readonly ranks: Uint32Array;
  /** Height of each object: the number of stored deltas on top of it, in its longest chain. */
  private readonly heights: Uint8Array;
  /**
   * Objects sorted by kind, path and size, and the index of each object in that list plus one; 0 if
   * it is not listed.
   */
  private readonly neighbours: Uint32Array;
  private readonly neighbourIndexes: Uint32Array;
  private readonly ready = new Map<number, ReadyBase>();
  private readyBytes = 0;
  private workBytes = 0;

  constructor(
    objects: MergedObjects,
    hints: PathHints,
    chains: DeltaChains,
    options: DeltaSearchOptions,
  ) {
    this.objects = objects;
    this.hints = hints;
    this.chains = chains;
    this.options = options;
    const { count, order, bases } = objects;
    this.ranks = new Uint32Array(count);
    this.heights = new Uint8Array(count);
    for (let rank = count - 1; rank >= 0; rank--) {
      const object = order[rank] as number;
      this.ranks[object] = rank;
      const base = bases[object] as number;
      if (base === NO_ENTRY) continue;
      const height = Math.min(255, (this.heights[object] as number) + 1);
      this.heights[base] = Math.max(this.heights[base] as number, height);
    }
    this.neighbours = this.sortNeighbours();
    this.neighbourIndexes = new Uint32Array(count);
    for (const [index, object] of this.neighbours.entries())
      this.neighbourIndexes[object] = index + 1;
  }

  /** Bytes of the indexed bases with their tables. */
  get heldBytes(): number {
    return this.readyBytes * 2;
  }

  /** True for an object stored whole for which a delta should be searched. */
  isTarget(object: number): boolean {
    const { homes, starts, ends } = this.objects;
    if ((homes[object] as number) < this.options.packsFrom || !this.isOfUse(object)) return false;
    if (this.isOverLimit()) return false;
    // Content that hardly deflates has little in common with any other.
    const size = this.objects.sizes[object] as number;
    return (ends[object] as number) - (starts[object] as number) < 0.9 * size + SAVED_BYTES_MIN;
  }

  /**
   * Returns a delta for an object whose stored base is too deep, or left out; undefined if the
   * object should be stored whole.
   *
   * @param base The stored base, or the one that replaces it; `NO_ENTRY` if there is none.
   */
  async shorten(
    object: number,
    content: Uint8Array,
    base: number,
  ): Promise<FoundDelta | undefined> {
    if (base === NO_ENTRY || !this.isOfUse(object)) return undefined;
    const shallower = this.chains.shallower(base, 0);
    return this.compare(content, shallower, this.bytesMax(content));
  }

  /** Returns the shortest delta found for an object stored whole. */
  async find(object: number, content: Uint8Array): Promise<FoundDelta | undefined> {
    let bytesMax = this.bytesMax(content);
    let found: FoundDelta | undefined;
    const height = this.heights[object] as number;
    const predecessor = this.hints.predecessors[object] as number;
    if (predecessor !== NO_ENTRY && this.isBefore(predecessor, object)) {
      const base = this.chains.shallower(predecessor, Math.min(height, DELTA_DEPTH_MAX / 2));
      found = await this.compare(content, base, bytesMax);
      if (found && found.delta.length <= content.length * GOOD_SHARE) return found;
      bytesMax = found ? found.delta.length - 1 : bytesMax;
    }
    // A commit has no more in common with its neighbours than with its parent.
    if (this.objects.kinds[object] === COMMIT) return found;
    for (const neighbour of this.window(object)) {
      if (neighbour === predecessor) continue;
      const base = this.chains.shallower(neighbour, 0);
      const better = await this.compare(content, base, bytesMax);
      if (!better) continue;
      found = better;
      bytesMax = better.delta.length - 1;
    }
    return found;
  }

  private bytesMax(content: Uint8Array): number {
    return Math.floor(content.length / 2) - SAVED_BYTES_MIN;
  }

  private isOfUse(object: number): boolean {
    const size = this.objects.sizes[object] as number;
    return size >= OBJECT_BYTES_MIN && size <= OBJECT_BYTES_MAX;
  }

  private isOverLimit(): boolean {
    return this.workBytes > this.options.workBytesMax || this.options.isExhausted();
  }

  private isBefore(base: number, object: number): boolean {
    return (this.ranks[base] as number) < (this.ranks[object] as number);
  }

  private async compare(
    content: Uint8Array,
    base: number,
    bytesMax: number,
  ): Promise<FoundDelta | undefined> {
    if (base === NO_ENTRY || bytesMax <= 0 || !this.isOfUse(base)) return undefined;
    const baseBytes = this.objects.sizes[base] as number;
    // The delta must contain all bytes that the base lacks, and a base much larger than the object
    // rarely helps.
    if (content.length - baseBytes >= bytesMax || content.length < baseBytes / 32) return undefined;
    this.workBytes += content.length + baseBytes;
    if (this.isOverLimit()) return undefined;
    const { encoder, content: baseContent } = await this.readyBase(base);
    const delta = encoder.encode(content, bytesMax);
    return delta && { base, baseContent, delta };
  }

  private async readyBase(base: number): Promise<ReadyBase> {
    const known = this.ready.get(base);
    if (known) {
      this.ready.delete(base);
      this.ready.set(base, known);
      return known;
    }
    const content = await this.options.read(base);
    const indexed = { encoder: new DeltaEncoder(content), content };
    this.ready.set(base, indexed);
    const { sizes } = this.objects;
    this.readyBytes += sizes[base] as number;
    for (const oldest of this.ready.keys()) {
      if (this.readyBytes <= READY_BYTES_MAX || oldest === base) break;
      this.ready.delete(oldest);
      this.readyBytes -= sizes[oldest] as number;
    }
    return indexed;
  }

  /** Lists the neighbours by kind, path and size that come earlier in the order, nearest first. */
  private *window(object: number): Generator<number> {
    const { neighbours, objects } = this;
    const index = (this.neighbourIndexes[object] as number) - 1;
    if (index < 0) return;
    for (let distance = 1; distance <= WINDOW; distance++) {
      for (const step of [distance, -distance]) {
        const neighbour: number | undefined = neighbours[index + step];
        if (neighbour === undefined || objects.kinds[neighbour] !== objects.kinds[object]) continue;
        if (this.isBefore(neighbour, object)) yield neighbour;
      }
    }
  }

  private sortNeighbours(): Uint32Array {
    const { order, homes, kinds, sizes } = this.objects;
    const { pathHashes } = this.hints;
    const { packsFrom } = this.options;
    return order
      .filter((object) => (homes[object] as number) >= packsFrom && this.isOfUse(object))
      .toSorted(
        (a, b) =>
          (kinds[a] as number) - (kinds[b] as number) ||
          (pathHashes[a] as number) - (pathHashes[b] as number) ||
          (sizes[b] as number) - (sizes[a] as number),
      );
  }
}
