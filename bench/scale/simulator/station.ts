import type { Histogram } from "./histogram.ts";

/**
 * A resource that serves what arrives in the order of arrival, with one server or several.
 *
 * Arrivals must be handed over in the order of their times. No list of what waits is needed then:
 * when each server becomes free says how long the next arrival waits.
 */
export class Station {
  /** Undefined for a station that does not count them. */
  readonly waits: Histogram | undefined;
  served = 0;
  refused = 0;
  /** The sum of the service times of all that was served, in milliseconds. */
  busyMs = 0;
  /** The same of all that arrived. */
  offeredMs = 0;
  /** When each server becomes free, a heap whose first element is the earliest. */
  readonly #freeAt: Float64Array;
  readonly #patienceMs: number;
  /** The same at the mark. */
  #marked: Float64Array;

  /**
   * @param patienceMs The longest wait; an arrival that would wait longer is refused.
   * @param waits Counts the waits.
   */
  constructor(servers = 1, patienceMs = Number.POSITIVE_INFINITY, waits?: Histogram) {
    this.waits = waits;
    this.#freeAt = new Float64Array(servers);
    this.#marked = this.#freeAt;
    this.#patienceMs = patienceMs;
  }

  get servers(): number {
    return this.#freeAt.length;
  }

  /** @returns When the service ends; undefined if the arrival is refused. */
  serve(nowMs: number, serviceMs: number): number | undefined {
    const startMs = Math.max(nowMs, this.#freeAt[0] ?? 0);
    const waitMs = startMs - nowMs;
    this.offeredMs += serviceMs;
    if (waitMs > this.#patienceMs) {
      this.refused++;
      return undefined;
    }
    this.waits?.note(waitMs);
    this.served++;
    this.busyMs += serviceMs;
    this.#replaceFirst(startMs + serviceMs);
    return startMs + serviceMs;
  }

  /** Notes what waits, for a skip from here. */
  mark(): void {
    this.#marked = this.#freeAt.slice();
  }

  /**
   * Passes over a time that is not simulated, from the mark, in which work went on arriving at this
   * rate: what waits grows or shrinks by the difference to what the servers can do. Whatever was
   * served since the mark is part of that work.
   *
   * @param utilisation Service time that arrived, as a share of the time of all servers.
   */
  skip(fromMs: number, toMs: number, utilisation: number): void {
    const growthMs = (utilisation - 1) * (toMs - fromMs);
    for (const [at, freeAt] of this.#marked.entries()) {
      const waitingMs = Math.max(0, freeAt - fromMs);
      this.#freeAt[at] = toMs + Math.min(this.#patienceMs, Math.max(0, waitingMs + growthMs));
    }
    this.#freeAt.sort();
  }

  #replaceFirst(freeAtMs: number): void {
    const heap = this.#freeAt;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++;
      if (freeAtMs <= (heap[child] ?? 0)) break;
      heap[at] = heap[child] ?? 0;
      at = child;
    }
    heap[at] = freeAtMs;
  }
}
