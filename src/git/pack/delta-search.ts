import { COMMIT } from "../object/kind.ts";
import type { MergedObjects } from "./merged-objects.ts";
import { DELTA_DEPTH_MAX, type DeltaChains } from "./delta-chains.ts";
import { DeltaEncoder } from "./delta-encoder.ts";
import { NO_ENTRY } from "./pack-table.ts";
import type { PathHints } from "./path-hints.ts";

/** Neighbours that an object is compared with: git's window. */
const WINDOW = 10;
/** Smallest object that is worth a delta, in bytes, and largest that one is sought for. */
const OBJECT_BYTES_MIN = 50;
const OBJECT_BYTES_MAX = 4 * 1024 * 1024;
/** What a delta must save beyond half of its object, in bytes: a raw id, as git has it. */
const SAVED_BYTES_MIN = 20;
/** A delta from the version before that is this short, against its object, ends the search. */
const GOOD_SHARE = 1 / 8;
/** Bases kept ready, in bytes of content. */
const READY_BYTES_MAX = 4 * 1024 * 1024;

/** A delta, and what it is a delta of. */
export interface FoundDelta {
  readonly base: number;
  readonly baseContent: Uint8Array;
  readonly delta: Uint8Array;
}

/** A base that may serve several objects. */
interface ReadyBase {
  readonly encoder: DeltaEncoder;
  readonly content: Uint8Array;
}

export interface DeltaSearchOptions {
  /** Objects of packs before this one are bases only where they are predecessors. */
  readonly packsFrom: number;
  /** Contents are compared up to this many bytes in all. */
  readonly workBytesMax: number;
  /** True once no more may be read. */
  isExhausted(): boolean;
  /** The content of an object, which is what its id says. */
  read(object: number): Promise<Uint8Array>;
}

/**
 * Looks for bases among the objects that come before: what lay at the same path, then neighbours by
 * kind, path and size.
 */
export class DeltaSearch {
  private readonly objects: MergedObjects;
  private readonly hints: PathHints;
  private readonly chains: DeltaChains;
  private readonly options: DeltaSearchOptions;
  /** Rank of each object in the order in which bases come first. */
  private readonly ranks: Uint32Array;
  /** Deltas that are stored behind each object, in the longest of its chains. */
  private readonly heights: Uint8Array;
  /** Objects by kind, path and size, and where each stands among them, counted from one. */
  private readonly neighbours: Uint32Array;
  private readonly places: Uint32Array;
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
    this.places = new Uint32Array(count);
    for (const [place, object] of this.neighbours.entries()) this.places[object] = place + 1;
  }

  /** Bytes of what is held: the bases that are ready, with their tables. */
  get heldBytes(): number {
    return this.readyBytes * 2;
  }

  /** True for an object that is stored whole and that a delta may be sought for. */
  isTarget(object: number): boolean {
    const { homes, starts, ends } = this.objects;
    if ((homes[object] as number) < this.options.packsFrom || !this.isOfUse(object)) return false;
    if (this.isOverLimit()) return false;
    // What hardly deflates has little in common with anything.
    const size = this.objects.sizes[object] as number;
    return (ends[object] as number) - (starts[object] as number) < 0.9 * size + SAVED_BYTES_MIN;
  }

  /** A delta for an object whose stored base is too deep, undefined if it is better stored whole. */
  async shorten(
    object: number,
    content: Uint8Array,
    base: number,
  ): Promise<FoundDelta | undefined> {
    if (!this.isOfUse(object)) return undefined;
    const shallower = this.chains.shallower(base, 0);
    return this.compare(content, shallower, this.bytesMax(content));
  }

  /** The shortest delta found for an object that is stored whole. */
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
    // Commits have in common with their parents what they have in common with anything.
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
    // What the base does not hold must be in the delta; and of a giant a dwarf has little.
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
    const made = { encoder: new DeltaEncoder(content), content };
    this.ready.set(base, made);
    const { sizes } = this.objects;
    this.readyBytes += sizes[base] as number;
    for (const oldest of this.ready.keys()) {
      if (this.readyBytes <= READY_BYTES_MAX || oldest === base) break;
      this.ready.delete(oldest);
      this.readyBytes -= sizes[oldest] as number;
    }
    return made;
  }

  /** Objects near in kind, path and size that come before, nearest first. */
  private *window(object: number): Generator<number> {
    const { neighbours, objects } = this;
    const place = (this.places[object] as number) - 1;
    if (place < 0) return;
    for (let distance = 1; distance <= WINDOW; distance++) {
      for (const step of [distance, -distance]) {
        const neighbour: number | undefined = neighbours[place + step];
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
