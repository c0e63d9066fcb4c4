import { logBug } from "../../../../lib/log.ts";
import type { Attempt } from "./attempt.ts";
import { changeHook, toAttemptRecord, toHookChange } from "./attempt-record.ts";
import type { DeliveryRun } from "./delivery-run.ts";
import type { DueDelivery } from "./due-delivery.ts";
import { type HookLease, isBackingOff } from "./hook-lease.ts";
import { type HookWork, type Stored, storeAttempts } from "./store-attempts.ts";

/** How long the result of an attempt waits for other results, in milliseconds. */
const WAIT_MS = 40;
/** Attempts, or characters of them, that are stored without waiting for others. */
const WAITING_MAX = 50;
const WAITING_SIZE_MAX = 400_000;
/** Writes that may fail before the others of the same flush are given up. */
const FAILURES_MAX = 20;
/** The longest delay of a queue message, in seconds. */
const DELAY_SECONDS_MAX = 43_200;

/** A run that waits until the attempts of a hook so far are stored. */
interface Waiter {
  /** Whether the hook is to be released, unless more deliveries are due. */
  readonly isRelease: boolean;
  /** @param due Due deliveries of a hook that was not released. */
  readonly done: (due: readonly DueDelivery[]) => void;
}

/**
 * Stores the results of a run's attempts. Results of all hooks that end within a short time are one
 * batch, which is stored at once when all hooks wait for it.
 */
export class AttemptRecorder {
  readonly #run: DeliveryRun;
  readonly #waiting = new Map<HookLease, Waiter[]>();
  #recordCount = 0;
  #size = 0;
  /** Hooks that may record further attempts before the ones so far are stored. */
  #busyCount = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSoon = false;
  #isFlushing = false;
  #failuresLeft = 0;

  constructor(run: DeliveryRun) {
    this.#run = run;
  }

  /** Runs the deliveries to a hook: nothing is stored at once while they may add to it. */
  async follow(work: () => Promise<void>): Promise<void> {
    this.#busyCount++;
    try {
      await work();
    } finally {
      this.#busyCount--;
      this.#schedule();
    }
  }

  /** Records an attempt, which is stored later. Has no effect if the lease was lost. */
  record(lease: HookLease, due: DueDelivery, attempt: Attempt): void {
    if (lease.token === undefined) return;
    const { ctx, clock } = this.#run;
    const record = toAttemptRecord(ctx, clock, lease.hook, due, attempt);
    if (record.result === "retried" || due.attemptCount > 0) lease.hasRetries = true;
    lease.unstored.push(record);
    lease.hook = changeHook(lease.hook, toHookChange([record]));
    if (!this.#waiting.has(lease)) this.#waiting.set(lease, []);
    this.#recordCount++;
    this.#size += record.deliveryJson.length;
    this.#schedule();
  }

  /**
   * Waits until the attempts of a hook so far are stored.
   *
   * @param isIdle Whether the hook starts nothing meanwhile, and no attempt of it is under way.
   */
  async stored(lease: HookLease, isIdle: boolean): Promise<void> {
    await this.#wait(lease, { isRelease: false, isIdle });
  }

  /**
   * Stores the attempts of a hook, and releases its lease unless more deliveries are due.
   *
   * @returns Due deliveries, if the lease was not released.
   */
  release(lease: HookLease): Promise<readonly DueDelivery[]> {
    return this.#wait(lease, { isRelease: true, isIdle: true });
  }

  async #wait(
    lease: HookLease,
    { isRelease, isIdle }: { isRelease: boolean; isIdle: boolean },
  ): Promise<readonly DueDelivery[]> {
    if (lease.token === undefined) return [];
    const { promise, resolve } = Promise.withResolvers<readonly DueDelivery[]>();
    const waiters = this.#waiting.get(lease) ?? [];
    waiters.push({ isRelease, done: resolve });
    this.#waiting.set(lease, waiters);
    if (isIdle) this.#busyCount--;
    this.#schedule();
    try {
      return await promise;
    } finally {
      if (isIdle) this.#busyCount++;
    }
  }

  #schedule(): void {
    if (this.#isFlushing || this.#waiting.size === 0) return;
    const isFull = this.#recordCount >= WAITING_MAX || this.#size >= WAITING_SIZE_MAX;
    const isSoon = isFull || this.#busyCount === 0;
    if (this.#timer !== undefined && (this.#isSoon || !isSoon)) return;
    clearTimeout(this.#timer);
    this.#isSoon = isSoon;
    this.#timer = setTimeout(() => void this.#flush(), isSoon ? 0 : WAIT_MS);
  }

  async #flush(): Promise<void> {
    this.#timer = undefined;
    this.#isFlushing = true;
    const taken = [...this.#waiting];
    this.#waiting.clear();
    [this.#recordCount, this.#size] = [0, 0];
    const works = taken.flatMap(([lease, waiters]) => this.#workOf(lease, waiters) ?? []);
    try {
      this.#failuresLeft = FAILURES_MAX;
      await this.#store(works);
      await this.#requeue(works);
    } finally {
      const dueOf = new Map(works.map(({ lease, due }) => [lease, due]));
      for (const [lease, waiters] of taken) {
        for (const { done } of waiters) done(dueOf.get(lease) ?? []);
      }
      this.#isFlushing = false;
      this.#schedule();
    }
  }

  /** @returns Undefined if the lease was lost. */
  #workOf(lease: HookLease, waiters: readonly Waiter[]): FlushedWork | undefined {
    const { hook, read, token, unstored } = lease;
    if (token === undefined) return undefined;
    const isEnd = this.#run.isEnding || isBackingOff(hook, this.#run.clock.now());
    const isReleased = waiters.some(({ isRelease }) => isRelease);
    const release = isReleased ? (isEnd ? "always" : "if-done") : "never";
    const work = { hookId: hook.id, token, before: read, records: [...unstored], release } as const;
    return { ...work, lease, due: [], nextAt: null };
  }

  /**
   * If the batch fails, its halves are stored apart: the failure of one hook must not affect the
   * others.
   */
  async #store(works: readonly FlushedWork[]): Promise<void> {
    if (works.length === 0) return;
    const { ctx, clock, contents } = this.#run;
    try {
      const stored = await storeAttempts(ctx, works, contents.knownIds, clock.now());
      contents.add(stored.payloads);
      for (const work of works) this.#apply(work, stored);
    } catch (error) {
      this.#failuresLeft--;
      if (works.length === 1 || this.#failuresLeft <= 0) {
        for (const { lease } of works) {
          // The lease expires, and the schedule requeues the hook.
          lease.token = undefined;
          logBug(`hook ${lease.hook.id}`, error);
        }
        return;
      }
      const half = works.length >> 1;
      await this.#store(works.slice(0, half));
      await this.#store(works.slice(half));
    }
  }

  #apply(work: FlushedWork, stored: Stored): void {
    const { lease, records, hookId } = work;
    const state = stored.of(hookId);
    lease.unstored = lease.unstored.slice(records.length);
    lease.token = state.kind === "held" ? stored.token : undefined;
    if (state.kind === "released") work.nextAt = state.nextAt;
    if (state.kind !== "held") return;
    lease.read = state.hook;
    lease.hook = changeHook(state.hook, toHookChange(lease.unstored));
    if (records.some(({ result, isSent }) => result === "succeeded" && isSent)) {
      lease.isProven = true;
    }
    work.due = state.due;
  }

  /**
   * Queues messages for the next due deliveries of released hooks. If nothing was retried, no
   * message is needed: one was queued when the delivery was created. The exception is a delivery
   * due within a second, since the clocks of machines differ.
   */
  async #requeue(works: readonly FlushedWork[]): Promise<void> {
    const { ctx, clock, isStalled } = this.#run;
    const requeued = works.flatMap(({ hookId, lease, nextAt }) => {
      if (nextAt === null) return [];
      const delaySeconds = Math.max(0, Math.ceil((nextAt - clock.now()) / 1000));
      if (delaySeconds > 1 && !lease.hasRetries) return [];
      return [{ hookId, delaySeconds: Math.min(delaySeconds, DELAY_SECONDS_MAX) }];
    });
    // Hooks that were left because of others whose receivers hang are each left to a message of its
    // own.
    await ctx.eventQueues.deliverAt(requeued, { isApart: isStalled });
  }
}

/** The work of a hook that one flush stores. */
interface FlushedWork extends HookWork {
  readonly lease: HookLease;
  /** Due deliveries of a hook that was not released. */
  due: readonly DueDelivery[];
  /** When the next attempt of a released hook is due; null if none is. */
  nextAt: number | null;
}
