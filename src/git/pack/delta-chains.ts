import { NO_ENTRY } from "./pack-table.ts";

/** Longest delta chain in a pack that we write, as in `git gc`. */
export const DELTA_DEPTH_MAX = 50;

/** Heads deeper than this are not used as bases, because few deltas would fit after them. */
const HEAD_DEPTH_MAX = DELTA_DEPTH_MAX / 2;

/**
 * The delta chains of a pack being written. Bases are recorded before their deltas.
 *
 * When a chain becomes too long, the next object becomes a delta of the chain's head, the object
 * where the chain began, and starts a new chain one level deeper: of a thousand versions only one
 * is stored whole.
 */
export class DeltaChains {
  /** Base of each object, `NO_ENTRY` if it has none so far. */
  readonly bases: Int32Array;
  private readonly depths: Uint8Array;
  private readonly heads: Int32Array;

  constructor(count: number) {
    this.bases = new Int32Array(count).fill(NO_ENTRY);
    this.depths = new Uint8Array(count);
    this.heads = new Int32Array(count).fill(NO_ENTRY);
  }

  depth(object: number): number {
    return this.depths[object] as number;
  }

  /** Records a delta that continues the chain of its base. */
  extend(object: number, base: number): void {
    this.link(object, base);
    this.heads[object] = this.head(base);
  }

  /** Records a newly made delta that starts a new chain. */
  begin(object: number, base: number): void {
    this.link(object, base);
  }

  /**
   * Returns the base to use instead of `base` for an object with `height` deltas on top of it:
   * `base` itself if the chain stays short enough, else the head of its chain, `NO_ENTRY` if the
   * head is too deep.
   */
  shallower(base: number, height: number): number {
    if (this.depth(base) + 1 + height <= DELTA_DEPTH_MAX) return base;
    const head = this.head(base);
    return this.depth(head) <= HEAD_DEPTH_MAX ? head : NO_ENTRY;
  }

  private head(object: number): number {
    const head = this.heads[object] as number;
    return head === NO_ENTRY ? object : head;
  }

  private link(object: number, base: number): void {
    this.bases[object] = base;
    this.depths[object] = Math.min(255, this.depth(base) + 1);
  }
}
