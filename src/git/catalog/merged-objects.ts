import type { Steps } from "../budget.ts";
import { corrupt } from "../error.ts";
import { compareOidBytes, formatOid, OID_BYTES } from "../oid.ts";
import { sortByOid } from "../pack/oid-order.ts";
import type { OpenPack } from "./pack-catalog.ts";
import { NO_ENTRY } from "../pack/pack-table.ts";

/** Number of values of an id's first two bytes. */
const FANOUT = 0x10000;

/** Marks a position whose object is left out. */
export const LEFT_OUT = 0xffffffff;

/** Whether the object at a position of a pack's index is to be kept. */
export type KeptObject = (pack: number, position: number) => boolean;

/**
 * The objects of several packs, each once, numbered by rank of their ids as in the index of the
 * merged pack. About 80 bytes per object.
 *
 * The home of an object is the oldest pack that contains it. The base of a delta is in the same
 * pack, so its home is that pack or an older one. Therefore stored deltas never form a cycle,
 * whatever the packs contain.
 */
export class MergedObjects {
  readonly count: number;
  readonly packs: readonly OpenPack[];
  /** Raw ids, sorted, 20 bytes each. */
  readonly oids: Uint8Array<ArrayBuffer>;
  /** Home of each object: pack number, and position in that pack's index. */
  readonly homes: Uint16Array;
  readonly positions: Uint32Array;
  /** Start and end of the entry in that pack, in bytes. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Kind of each object, 1 to 4, and its size in bytes. */
  readonly kinds: Uint8Array;
  readonly sizes: Float64Array;
  /**
   * Base of each object stored as a delta, `NO_ENTRY` for the others, and for deltas that lost
   * their base.
   */
  readonly bases: Int32Array;
  /**
   * Objects stored as deltas whose bases are left out, each with a base that resembles it: the
   * nearest one of its chain that is kept, or else another object that lost the same base.
   * `NO_ENTRY` if there is neither.
   */
  readonly rebased = new Map<number, number>();
  /** Objects in an order with bases before their deltas: by pack, then by offset. */
  readonly order: Uint32Array;
  /** The object at each position of each pack's index, `LEFT_OUT` for those that are not kept. */
  readonly objects: readonly Uint32Array[];
  private readonly fanout = new Uint32Array(FANOUT + 1);

  /**
   * @param packs Oldest first.
   * @param isKept Without it, all objects are.
   */
  static *make(packs: readonly OpenPack[], isKept?: KeptObject): Steps<MergedObjects> {
    const total = packs.reduce((sum, { idx }) => sum + idx.count, 0);
    const all = new Uint8Array(total * OID_BYTES);
    let filled = 0;
    for (const { idx } of packs) {
      all.set(idx.oids, filled * OID_BYTES);
      filled += idx.count;
    }
    const sorted = yield* sortByOid(all, total);
    return new MergedObjects(packs, isKept, all, sorted);
  }

  private constructor(
    packs: readonly OpenPack[],
    isKept: KeptObject | undefined,
    all: Uint8Array,
    sorted: Uint32Array,
  ) {
    this.packs = packs;
    const total = sorted.length;
    const owners = new Uint16Array(total);
    const firsts: number[] = [];
    let filled = 0;
    for (const [pack, { idx }] of packs.entries()) {
      firsts.push(filled);
      owners.fill(pack, filled, filled + idx.count);
      filled += idx.count;
    }
    this.objects = packs.map(({ idx }) => new Uint32Array(idx.count));
    this.homes = new Uint16Array(total);
    this.positions = new Uint32Array(total);
    this.kinds = new Uint8Array(total);
    this.sizes = new Float64Array(total);

    let count = 0;
    let last = -1;
    // Equal ids are sorted by entry, so the first one is the home.
    for (const entry of sorted) {
      const pack = owners[entry] as number;
      const position = entry - (firsts[pack] as number);
      if (isKept && !isKept(pack, position)) {
        (this.objects[pack] as Uint32Array)[position] = LEFT_OUT;
        continue;
      }
      if (last < 0 || compareOidBytes(all, last * OID_BYTES, all, entry * OID_BYTES) !== 0) {
        const { kinds, sizes } = this.pack(pack).sidecar;
        this.homes[count] = pack;
        this.positions[count] = position;
        this.kinds[count] = kinds[position] as number;
        this.sizes[count] = sizes[position] as number;
        last = entry;
        count++;
      }
      (this.objects[pack] as Uint32Array)[position] = count - 1;
    }
    this.count = count;
    this.oids = new Uint8Array(count * OID_BYTES);
    this.starts = new Float64Array(count);
    this.ends = new Float64Array(count);
    this.bases = new Int32Array(count).fill(NO_ENTRY);
    for (let object = 0; object < count; object++) {
      const { oids } = this.pack(this.homes[object] as number).idx;
      const at = (this.positions[object] as number) * OID_BYTES;
      this.oids.set(oids.subarray(at, at + OID_BYTES), object * OID_BYTES);
    }
    this.fillFanout();
    this.order = this.arrange();
  }

  /** Size of the tables in bytes. */
  get heldBytes(): number {
    const { oids, homes, positions, starts, ends, kinds, sizes, bases, order } = this;
    const tables = [oids, homes, positions, starts, ends, kinds, sizes, bases, order, this.fanout];
    return [...tables, ...this.objects].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  pack(number: number): OpenPack {
    const pack = this.packs[number];
    if (!pack) throw new Error(`no pack ${number}`);
    return pack;
  }

  /** Returns the object with the raw id at `oid[offset..]`, -1 if no pack contains it. */
  find(oid: Uint8Array, offset = 0): number {
    const first = ((oid[offset] as number) << 8) | (oid[offset + 1] as number);
    let low = this.fanout[first] as number;
    let high = (this.fanout[first + 1] as number) - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const difference = compareOidBytes(this.oids, middle * OID_BYTES, oid, offset);
      if (difference === 0) return middle;
      if (difference < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  private fillFanout(): void {
    const { fanout, oids } = this;
    for (let object = 0; object < this.count; object++) {
      const at = object * OID_BYTES;
      (fanout[(((oids[at] as number) << 8) | (oids[at + 1] as number)) + 1] as number)++;
    }
    for (let value = 0; value < FANOUT; value++) {
      (fanout[value + 1] as number) += fanout[value] as number;
    }
  }

  /** Computes the range and the base of each entry, and the order of objects. */
  private arrange(): Uint32Array {
    const order = new Uint32Array(this.count);
    const isPlaced = new Uint8Array(this.count);
    let placed = 0;
    const chain: number[] = [];
    for (const [pack, opened] of this.packs.entries()) {
      const { bases } = opened.sidecar;
      const objects = this.objects[pack] as Uint32Array;
      const { offsets, positions } = sortByOffset(opened);
      /** For each lost base the first object that lost it. */
      const orphans = new Map<number, number>();
      for (const [rank, position] of positions.entries()) {
        const object = objects[position] as number;
        if (object === LEFT_OUT || this.homes[object] !== pack) continue;
        this.starts[object] = offsets[rank] as number;
        this.ends[object] = offsets[rank + 1] as number;
        const base = bases[position] as number;
        if (base < 0) continue;
        if (objects[base] === LEFT_OUT) this.rebase(object, base, opened, objects, orphans);
        else this.bases[object] = objects[base] as number;
      }
      for (const position of positions) {
        let object = objects[position] as number;
        if (object === LEFT_OUT) continue;
        while (object !== NO_ENTRY && this.homes[object] === pack && isPlaced[object] === 0) {
          isPlaced[object] = 1;
          chain.push(object);
          object = this.rebased.get(object) ?? (this.bases[object] as number);
        }
        for (let next = chain.pop(); next !== undefined; next = chain.pop()) order[placed++] = next;
      }
    }
    return order;
  }

  /** Finds the base that replaces one which is left out. */
  private rebase(
    object: number,
    lost: number,
    { sidecar: { bases } }: OpenPack,
    objects: Uint32Array,
    orphans: Map<number, number>,
  ): void {
    let base = lost;
    while (base >= 0 && objects[base] === LEFT_OUT) base = bases[base] as number;
    const found = base >= 0 ? (objects[base] as number) : orphans.get(lost);
    if (found === undefined) orphans.set(lost, object);
    this.rebased.set(object, found ?? NO_ENTRY);
  }
}

/**
 * Returns the offsets of a pack's entries, ascending, followed by the end of the last one, and the
 * positions in the same order.
 */
function sortByOffset({ idx, source }: OpenPack): {
  offsets: Float64Array;
  positions: Uint32Array;
} {
  const { count } = idx;
  const offsets = new Float64Array(count + 1);
  for (let position = 0; position < count; position++) offsets[position] = idx.offset(position);
  offsets[count] = source.sizeBytes - OID_BYTES;
  offsets.sort();
  const positions = new Uint32Array(count);
  for (let position = 0; position < count; position++) {
    const offset = idx.offset(position);
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((offsets[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    if (low === count)
      throw corrupt(`idx: no entry for ${formatOid(idx.oids, position * OID_BYTES)}`);
    positions[low] = position;
  }
  return { offsets, positions };
}
