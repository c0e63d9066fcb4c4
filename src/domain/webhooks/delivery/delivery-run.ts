import type { Ctx } from "../../../context.ts";
import { Semaphore } from "../../../storage/semaphore.ts";

/** Time and chance, as a run of deliveries takes them. */
export interface Clock {
  /** In milliseconds. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = { now: () => Date.now(), random: () => Math.random() };

/** For how long a run begins attempts. The platform lets it go on for 30 s once its message is done. */
const WORK_MS = 20_000;
const LIFE_MS = 26_000;
/** The platform bounds what an invocation may ask of others. */
const ATTEMPTS_MAX = 100;
/** As many as the platform opens at once. */
const REQUESTS_OPEN_MAX = 6;

/** What one call to deliver shares among the hooks it delivers to. */
export class DeliveryRun {
  readonly ctx: Ctx;
  readonly clock: Clock;
  /** Requests wait here for their turn. */
  readonly requests = new Semaphore(REQUESTS_OPEN_MAX, () => () => {});
  readonly #endsAt: number;
  #attemptsLeft = ATTEMPTS_MAX;

  constructor(ctx: Ctx, clock: Clock) {
    this.ctx = ctx;
    this.clock = clock;
    this.#endsAt = clock.now() + Math.min(WORK_MS, LIFE_MS - ctx.config.deliverTimeoutMs);
  }

  /** Whether no attempt may begin any more. */
  get isExhausted(): boolean {
    return this.#attemptsLeft === 0 || this.clock.now() >= this.#endsAt;
  }

  countAttempt(): void {
    this.#attemptsLeft--;
  }
}
