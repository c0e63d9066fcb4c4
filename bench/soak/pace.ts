import { setTimeout as pause } from "node:timers/promises";

/**
 * How far the load may be behind its plan: what it could not do while the service was down is not
 * made up for.
 */
const BEHIND_MAX_MS = 1000;

/** Spreads the steps of all workers evenly over time. */
export class Pace {
  readonly #intervalMs: number;
  #nextMs = performance.now();

  /** @param perSecond Steps of all workers together. */
  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** Waits until the next step may begin. */
  async turn(): Promise<void> {
    const now = performance.now();
    this.#nextMs = Math.max(this.#nextMs + this.#intervalMs, now - BEHIND_MAX_MS);
    if (this.#nextMs > now) await pause(this.#nextMs - now);
  }
}
