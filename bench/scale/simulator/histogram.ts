/** Each bucket is this much wider than the one before it, which bounds the error of a quantile. */
const GROWTH = 1.05;
const FIRST = 0.001;
const BUCKETS = 512;

/** Counts of durations in milliseconds, in buckets that grow by 5 %. */
export class Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  count = 0;
  sum = 0;
  max = 0;

  note(durationMs: number): void {
    const bucket =
      durationMs < FIRST
        ? 0
        : Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(durationMs / FIRST) / Math.log(GROWTH)));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.count++;
    this.sum += durationMs;
    if (durationMs > this.max) this.max = durationMs;
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }

  /** The duration that a share of all does not exceed, rounded up by at most 5 %; 0 of none. */
  quantile(share: number): number {
    let left = share * this.count;
    for (const [bucket, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0 && count > 0)
        return bucket === 0 ? 0 : Math.min(this.max, FIRST * GROWTH ** bucket);
    }
    return this.max;
  }

  add(other: Histogram): void {
    for (const [bucket, count] of other.#counts.entries())
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.count += other.count;
    this.sum += other.sum;
    this.max = Math.max(this.max, other.max);
  }
}
