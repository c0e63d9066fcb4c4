/** Growth factor of a full array. */
const GROWTH = 1.5;

/** A growing list of integers below 2^32, four bytes each. */
export class NumberList {
  length = 0;
  private numbers: Uint32Array<ArrayBuffer>;

  constructor(capacity = 1024) {
    this.numbers = new Uint32Array(capacity);
  }

  /** Allocated size in bytes. */
  get heldBytes(): number {
    return this.numbers.byteLength;
  }

  push(number: number): void {
    if (this.length === this.numbers.length) {
      const larger = new Uint32Array(Math.ceil(this.numbers.length * GROWTH));
      larger.set(this.numbers);
      this.numbers = larger;
    }
    this.numbers[this.length++] = number;
  }

  at(index: number): number {
    return this.numbers[index] as number;
  }

  /** Returns a view, which is stale after the next `push`. */
  view(start = 0, end = this.length): Uint32Array<ArrayBuffer> {
    return this.numbers.subarray(start, end);
  }
}
