import type { Codec } from "../codec.ts";
import { formatOid, type Oid } from "../oid.ts";
import { countObjects, type PackCatalog, type ObjectLocation } from "./pack-catalog.ts";

/** A set of objects of a catalog: one bit per object of each pack. */
export class LocationSet {
  size = 0;
  private readonly bits: Uint32Array[];
  private readonly counts: number[];
  private readonly sizes: number[];

  constructor(catalog: PackCatalog) {
    this.counts = catalog.packs.map(countObjects);
    this.sizes = this.counts.map(() => 0);
    this.bits = this.counts.map((count) => new Uint32Array(Math.ceil(count / 32)));
  }

  /** Adds an object; false if the set contained it. */
  add({ pack, position }: ObjectLocation): boolean {
    const words = this.bits[pack];
    const bit = 1 << (position & 31);
    if (!words || ((words[position >>> 5] as number) & bit) !== 0) return false;
    (words[position >>> 5] as number) |= bit;
    this.count(pack, 1);
    return true;
  }

  has({ pack, position }: ObjectLocation): boolean {
    return (((this.bits[pack]?.[position >>> 5] ?? 0) >>> (position & 31)) & 1) === 1;
  }

  delete(location: ObjectLocation): void {
    const words = this.bits[location.pack];
    if (!words || !this.has(location)) return;
    (words[location.position >>> 5] as number) &= ~(1 << (location.position & 31));
    this.count(location.pack, -1);
  }

  private count(pack: number, more: number): void {
    this.size += more;
    (this.sizes[pack] as number) += more;
  }

  /** Number of objects of a pack that are in the set. */
  sizeOf(pack: number): number {
    return this.sizes[pack] ?? 0;
  }

  /** Number of objects of a pack, in the set or not. */
  capacity(pack: number): number {
    return this.counts[pack] ?? 0;
  }

  /** Lists the positions of one pack that are in the set, ascending. */
  *positions(pack: number): Generator<number> {
    for (const [index, word] of (this.bits[pack] ?? []).entries()) yield* bitsOf(index, word);
  }

  /** Lists the positions of one pack that are not in the set, ascending. */
  *missingPositions(pack: number): Generator<number> {
    const end = this.capacity(pack);
    for (const [index, word] of (this.bits[pack] ?? []).entries()) {
      for (const position of bitsOf(index, ~word)) if (position < end) yield position;
    }
  }

  /** A hash of what is in the set. */
  digest(codec: Codec): Oid {
    const hash = codec.createSha1();
    for (const words of this.bits) hash.update(new Uint8Array(words.buffer));
    return formatOid(hash.digest());
  }
}

/** The positions of the bits of a word that are set, ascending. */
function* bitsOf(index: number, word: number): Generator<number> {
  for (let rest = word; rest !== 0; rest &= rest - 1) {
    yield index * 32 + (31 - Math.clz32(rest & -rest));
  }
}
