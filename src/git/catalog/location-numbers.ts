import type { PackCatalog, ObjectLocation } from "./pack-catalog.ts";

/** A number for each object of a catalog, 0 at first: four bytes each. */
export class LocationNumbers {
  private readonly numbers: readonly Uint32Array[];

  constructor(catalog: PackCatalog) {
    this.numbers = catalog.packs.map(({ idx }) => new Uint32Array(idx.count));
  }

  /** Memory held in bytes. */
  get heldBytes(): number {
    return this.numbers.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  get({ pack, position }: ObjectLocation): number {
    return this.numbers[pack]?.[position] ?? 0;
  }

  set({ pack, position }: ObjectLocation, number: number): void {
    const numbers = this.numbers[pack];
    if (numbers) numbers[position] = number;
  }
}
