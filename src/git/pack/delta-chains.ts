import { NO_ENTRY } from "./pack-table.ts";

/** Longest chain of deltas in a pack that is made, as `git gc` has it. */
export const DELTA_DEPTH_MAX = 50;

/** Heads deeper than this are given up: few deltas would fit behind them. */
const HEAD_DEPTH_MAX = DELTA_DEPTH_MAX / 2;

/**
 * The chains of a pack that is being made, base before delta.
 *
 * A chain that is too long goes on as a delta of its head, which is where it began, and so becomes
 * the head of a new stretch one deeper: a thousand versions are stored with one of them whole.
 */
export class DeltaChains {
  /** Base of each object, `NO_ENTRY` while it has none. */
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

  /** Records a delta that goes on where its base ends. */
  extend(object: number, base: number): void {
    this.link(object, base);
    this.heads[object] = this.head(base);
  }

  /** Records a delta that was made to begin a new stretch. */
  begin(object: number, base: number): void {
    this.link(object, base);
  }

  /**
   * The base to take in place of `base` for an object with `height` deltas behind it: `base` itself
   * where the chain stays short enough, else the head of its chain, `NO_ENTRY` if that is too deep.
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
