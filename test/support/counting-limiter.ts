import type { RateLimiter } from "../../src/auth/rate-limiter.ts";

/** A binding that allows so many calls of a key. */
export class CountingLimiter implements RateLimiter {
  private readonly counts = new Map<string, number>();
  private readonly max: number;

  constructor(max: number) {
    this.max = max;
  }

  limit({ key }: { key: string }): Promise<{ success: boolean }> {
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    return Promise.resolve({ success: count <= this.max });
  }
}
