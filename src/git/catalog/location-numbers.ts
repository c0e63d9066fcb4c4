import { countObjects, type PackCatalog, type ObjectLocation } from "./pack-catalog.ts";

/** A number for each object of a catalog, 0 at first: four bytes each. */
export class LocationNumbers {
  private readonly numbers: readonly Uint32Array[];

  constructor(catalog: PackCatalog) {
    this.numbers = catalog.packs.map((pack) => new Uint32Array(countObjects(pack)));
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

/** The same for few objects: a cost for each that has a number. */
export class FewNumbers {
  private readonly numbers = new Map<string, number>();

  /** Memory held in bytes, approximately. */
  get heldBytes(): number {
    return this.numbers.size * ENTRY_BYTES;
  }

  get({ pack, position }: ObjectLocation): number {
    return this.numbers.get(`${pack}:${position}`) ?? 0;
  }

  set({ pack, position }: ObjectLocation, number: number): void {
    this.numbers.set(`${pack}:${position}`, number);
  }
}

const ENTRY_BYTES = 80;
