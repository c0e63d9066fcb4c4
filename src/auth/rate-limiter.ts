import { ExpiringMap } from "../lib/expiring-map.ts";

/**
 * Counts calls by key and reports when a limit is exceeded: a rate limiting binding of the
 * platform.
 */
export interface RateLimiter {
  limit(options: { key: string }): Promise<{ success: boolean }>;
}

/** The window of every limit, in milliseconds, as in wrangler.toml. */
export const WINDOW_MS = 60_000;
/** Keys that an isolate counts. */
const COUNTED_MAX = 10_000;

/** A limiter for services without the binding: it counts the calls to this isolate. */
export class IsolateRateLimiter implements RateLimiter {
  private readonly counts = new ExpiringMap<{ count: number }>(COUNTED_MAX);
  private readonly countMax: number;

  constructor(countMax: number) {
    this.countMax = countMax;
  }

  limit({ key }: { key: string }): Promise<{ success: boolean }> {
    const now = Date.now();
    const counted = this.counts.get(key, now) ?? { count: 0 };
    if (counted.count === 0) this.counts.set(key, counted, now + WINDOW_MS);
    counted.count++;
    return Promise.resolve({ success: counted.count <= this.countMax });
  }
}
