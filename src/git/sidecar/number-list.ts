/** How much more room there is when numbers have filled what there was. */
const GROWTH = 1.5;

/** Whole numbers below 2^32, appended one by one, four bytes each. */
export class NumberList {
  length = 0;
  private numbers: Uint32Array<ArrayBuffer>;

  constructor(capacity = 1024) {
    this.numbers = new Uint32Array(capacity);
  }

  /** Bytes of the list, with its room to grow. */
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

  /** A view that the next `push` may leave behind. */
  view(start = 0, end = this.length): Uint32Array<ArrayBuffer> {
    return this.numbers.subarray(start, end);
  }
}
