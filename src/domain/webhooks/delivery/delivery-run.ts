import type { Ctx } from "../../../context.ts";
import { Semaphore } from "../../../storage/semaphore.ts";

/** The clock and the random source of a run. */
export interface Clock {
  /** In milliseconds. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = { now: () => Date.now(), random: () => Math.random() };

/** How long a run starts attempts. The platform allows 30 s of work after the message was handled. */
const WORK_MS = 20_000;
const LIFE_MS = 26_000;
/** The platform limits the subrequests of one invocation. */
const ATTEMPTS_MAX = 100;
/** The platform's limit of simultaneously open connections. */
const REQUESTS_OPEN_MAX = 6;

/** State shared by all hooks of one delivery run. */
export class DeliveryRun {
  readonly ctx: Ctx;
  readonly clock: Clock;
  /** Bounds the requests that are open at once. */
  readonly requests = new Semaphore(REQUESTS_OPEN_MAX, () => () => {});
  readonly #endsAt: number;
  #attemptsLeft = ATTEMPTS_MAX;

  constructor(ctx: Ctx, clock: Clock) {
    this.ctx = ctx;
    this.clock = clock;
    this.#endsAt = clock.now() + Math.min(WORK_MS, LIFE_MS - ctx.config.deliverTimeoutMs);
  }

  /** Whether no further attempt may start. */
  get isExhausted(): boolean {
    return this.#attemptsLeft === 0 || this.clock.now() >= this.#endsAt;
  }

  countAttempt(): void {
    this.#attemptsLeft--;
  }
}
