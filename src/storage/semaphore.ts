/**
 * Lets a bounded number of pieces of work run at once; the others wait in order.
 *
 * One for each request, never one for the isolate: a request that is cut off gives nothing back.
 */
export class Semaphore {
  private free: number;
  private readonly onStart: () => () => void;
  private readonly waiting: (() => void)[] = [];

  /** @param onStart Called as each piece of work starts; what it returns, as the work ends. */
  constructor(count: number, onStart: () => () => void) {
    this.free = count;
    this.onStart = onStart;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    const onEnd = this.onStart();
    try {
      return await work();
    } finally {
      onEnd();
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}
