/**
 * A bounded cache of number lists by key. Evicts the lists that were not used while half of the
 * capacity was filled.
 */
export class ListCache {
  private readonly numbersMax: number;
  private recent = new Map<number, Uint32Array>();
  private recentNumbers = 0;
  private older = new Map<number, Uint32Array>();
  private olderNumbers = 0;

  /** @param numbersMax Capacity: total length of all lists, at four bytes per number. */
  constructor(numbersMax: number) {
    this.numbersMax = numbersMax;
  }

  /** Size of the lists in bytes. */
  get heldBytes(): number {
    return (this.recentNumbers + this.olderNumbers) * 4;
  }

  get(key: number): Uint32Array | undefined {
    const recent = this.recent.get(key);
    if (recent) return recent;
    const older = this.older.get(key);
    if (older) this.set(key, older);
    return older;
  }

  set(key: number, list: Uint32Array): void {
    if (this.recentNumbers + list.length > this.numbersMax / 2) {
      this.older = this.recent;
      this.olderNumbers = this.recentNumbers;
      this.recent = new Map();
      this.recentNumbers = 0;
    }
    if (!this.recent.has(key)) this.recentNumbers += list.length;
    this.recent.set(key, list);
  }
}
