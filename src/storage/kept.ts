import { LruCache } from "../lib/lru-cache.ts";
import { type WriteMark, type Writes, type WriteScope } from "../lib/writes.ts";

/**
 * How long a result is kept after its read began, in milliseconds. Together with a second for the
 * lag of a replica of D1, a change that another isolate made is seen within five seconds.
 */
export const KEPT_MS = 4000;

interface Entry<T> {
  readonly value: T;
  readonly mark: WriteMark;
  readonly reads: WriteScope;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** How a result is kept. */
interface Keeping {
  /** Bytes of the value. */
  readonly bytes: number;
  /** What the result follows from. */
  readonly reads: WriteScope;
  /** When it ends of itself, in milliseconds. */
  readonly endsAt?: number;
}

/**
 * Results of reads, kept in the isolate for seconds, until the isolate writes anything that they
 * may follow from.
 */
export class Kept<T> {
  readonly #entries: LruCache<Entry<T>>;
  readonly #writes: Writes;

  /** @param writes The writes that end results. */
  constructor(bytesMax: number, writes: Writes) {
    this.#entries = new LruCache(bytesMax);
    this.#writes = writes;
  }

  get(key: string, now: number): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry || now < entry.fromMs || now >= entry.untilMs) return undefined;
    return this.#writes.isSince(entry.mark, entry.reads, now) ? entry.value : undefined;
  }

  /**
   * Begins a read. @returns A function that keeps its result, unless something was written
   * meanwhile.
   */
  begin(now: number): (key: string, value: T, keeping: Keeping) => void {
    const mark = this.#writes.mark(now);
    return (key, value, { bytes, reads, endsAt = Infinity }) => {
      if (!this.#writes.isSince(mark, reads)) return;
      const untilMs = Math.min(now + KEPT_MS, endsAt);
      this.#entries.set(key, { value, mark, reads, fromMs: now, untilMs }, bytes);
    };
  }
}
