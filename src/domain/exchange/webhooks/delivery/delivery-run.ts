import type { Ctx } from "../../../../context.ts";
import { DeliveryContents } from "./delivery-contents.ts";

/** The clock and the random source of a run. */
export interface Clock {
  /** In milliseconds. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = { now: () => Date.now(), random: () => Math.random() };

/**
 * How long a run starts attempts. The platform allows 30 s of work after the message was handled.
 */
const WORK_MS = 20_000;
const LIFE_MS = 26_000;
/** The platform limits the subrequests of one invocation. */
const ATTEMPTS_MAX = 100;
/** The platform's limit of simultaneously open connections. */
const REQUESTS_OPEN_MAX = 6;
/**
 * Without a response for this time, a run whose connections are all in use leaves the other hooks
 * to other runs.
 */
const STALL_MS = 500;

/** State shared by all hooks of one delivery run. */
export class DeliveryRun {
  readonly ctx: Ctx;
  readonly clock: Clock;
  /** The contents of the webhook events that are delivered. */
  readonly contents: DeliveryContents;
  /**
   * Whether receivers that send no response take all connections: then no further attempt starts.
   */
  isStalled = false;
  readonly #endsAt: number;
  #attemptsLeft = ATTEMPTS_MAX;
  #openCount = 0;
  readonly #waiting: ((isGranted: boolean) => void)[] = [];
  #stallTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(ctx: Ctx, clock: Clock) {
    this.ctx = ctx;
    this.clock = clock;
    this.contents = new DeliveryContents(ctx);
    this.#endsAt = clock.now() + Math.min(WORK_MS, LIFE_MS - ctx.config.deliverTimeoutMs);
  }

  /** Whether no further attempt may start. */
  get isEnding(): boolean {
    return this.isStalled || this.#attemptsLeft === 0 || this.clock.now() >= this.#endsAt;
  }

  countAttempt(): void {
    this.#attemptsLeft--;
  }

  /**
   * Makes a request as soon as a connection is free, in the order of the calls.
   *
   * @returns Undefined if the run stalls before it is the request's turn.
   */
  async request<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.isStalled) return undefined;
    if (this.#openCount < REQUESTS_OPEN_MAX) this.#openCount++;
    else if (!(await this.#waitForConnection())) return undefined;
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Waits for the connection of a request that ends. */
  #waitForConnection(): Promise<boolean> {
    this.#stallTimer ??= setTimeout(() => this.#stall(), STALL_MS);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    const next = this.#waiting.shift();
    if (next) next(true);
    else this.#openCount--;
    if (this.#waiting.length > 0) {
      this.#stallTimer = setTimeout(() => this.#stall(), STALL_MS);
    }
  }

  #stall(): void {
    this.isStalled = true;
    for (const refuse of this.#waiting.splice(0)) refuse(false);
  }
}
