import { countObjects, type PackCatalog, type ObjectLocation } from "./pack-catalog.ts";

/** A set of objects of a catalog: one bit per object of each pack. */
export class LocationSet {
  size = 0;
  private readonly bits: Uint32Array[];
  private readonly counts: number[];

  constructor(catalog: PackCatalog) {
    this.counts = catalog.packs.map(countObjects);
    this.bits = this.counts.map((count) => new Uint32Array(Math.ceil(count / 32)));
  }

  /** Adds an object; false if the set contained it. */
  add({ pack, position }: ObjectLocation): boolean {
    const words = this.bits[pack];
    const bit = 1 << (position & 31);
    if (!words || ((words[position >>> 5] as number) & bit) !== 0) return false;
    (words[position >>> 5] as number) |= bit;
    this.size++;
    return true;
  }

  has({ pack, position }: ObjectLocation): boolean {
    return (((this.bits[pack]?.[position >>> 5] ?? 0) >>> (position & 31)) & 1) === 1;
  }

  delete(location: ObjectLocation): void {
    const words = this.bits[location.pack];
    if (!words || !this.has(location)) return;
    (words[location.position >>> 5] as number) &= ~(1 << (location.position & 31));
    this.size--;
  }

  /** Number of objects of a pack, in the set or not. */
  capacity(pack: number): number {
    return this.counts[pack] ?? 0;
  }

  /** Lists the positions of one pack that are in the set, ascending. */
  *positions(pack: number): Generator<number> {
    const words = this.bits[pack] ?? [];
    for (const [index, word] of words.entries()) {
      for (let rest = word; rest !== 0; rest &= rest - 1) {
        yield index * 32 + (31 - Math.clz32(rest & -rest));
      }
    }
  }
}
