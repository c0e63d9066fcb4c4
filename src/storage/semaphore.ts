/**
 * Limits the number of concurrent tasks; further tasks wait in order.
 *
 * Create one per request, never one per isolate: a cancelled request never releases its permits.
 */
export class Semaphore {
  private free: number;
  private readonly onStart: () => () => void;
  private readonly before: (() => Promise<void>) | undefined;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param onStart Called when a task starts; the function it returns is called when the task ends.
   * @param before Awaited before each task, if given.
   */
  constructor(count: number, onStart: () => () => void, before?: () => Promise<void>) {
    this.free = count;
    this.onStart = onStart;
    this.before = before;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.before) await this.before();
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
