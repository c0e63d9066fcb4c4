import type { Ctx } from "../../../../context.ts";
import type { Hook, HookDelivery } from "../../../../db/schema/index.ts";
import { type Attempt, type StoredAttempt, toStoredAttempt } from "./attempt.ts";
import { type AttemptResult, classifyOutcome } from "./classify-outcome.ts";
import type { Clock } from "./delivery-run.ts";
import type { DueDelivery } from "./due-delivery.ts";
import { ATTEMPTS_MAX, backoffMs, hookBackoffMs } from "./retry-schedule.ts";

/** The columns of a delivery that an attempt changes. */
export type ChangedDelivery = StoredAttempt &
  Pick<HookDelivery, "status" | "attemptCount" | "nextAttemptAt" | "updatedAt">;

/** How one attempt changes its delivery and its hook. */
export interface AttemptRecord {
  readonly result: AttemptResult["kind"];
  /** The delivery's new columns, with its id and the time at which it was due, as JSON. */
  readonly deliveryJson: string;
  /** When the attempt ended, in milliseconds. */
  readonly at: number;
  /** Whether a request was sent: otherwise a failure is none of the receiver. */
  readonly isSent: boolean;
  /** Whether there was nothing to send, which leaves the hook as it is. */
  readonly isSilent: boolean;
  /** Until when the whole hook backs off. */
  readonly backoffUntil: number | undefined;
}

/** @param hook The hook after its earlier attempts. */
export function toAttemptRecord(
  ctx: Ctx,
  clock: Clock,
  hook: Hook,
  due: DueDelivery,
  attempt: Attempt,
): AttemptRecord {
  const now = clock.now();
  const result = classifyOutcome(attempt.outcome, now);
  const attemptCount = due.attemptCount + 1;
  const isRetried = result.kind === "retried" && attemptCount < ATTEMPTS_MAX;
  const waitMs = isRetried ? (result.waitMs ?? backoffMs(attemptCount, clock.random())) : 0;
  const delivery: ChangedDelivery = {
    ...toStoredAttempt(attempt, ctx.config.deliverTimeoutMs),
    status: isRetried ? "pending" : result.kind === "succeeded" ? "succeeded" : "failed",
    attemptCount,
    nextAttemptAt: isRetried ? now + waitMs : null,
    updatedAt: now,
  };
  const hookWaitMs =
    result.kind !== "retried"
      ? undefined
      : result.isUnanswered
        ? hookBackoffMs(hook.failureCount + 1)
        : result.waitMs;
  return {
    result: result.kind,
    deliveryJson: JSON.stringify({ id: due.id, dueAt: due.nextAttemptAt, ...delivery }),
    at: now,
    isSent: attempt.request !== undefined,
    isSilent: attempt.outcome.kind === "silent",
    backoffUntil: hookWaitMs === undefined ? undefined : now + hookWaitMs,
  };
}

/** The changes of a hook by consecutive attempts. */
export interface HookChange {
  /** Undefined if no attempt changes it. */
  readonly last: { readonly status: "succeeded" | "failed"; readonly at: number } | undefined;
  /** Whether an attempt succeeded: failures from before it count no more. */
  readonly isReset: boolean;
  /** Failures since, and the time of the first of them. */
  readonly failureCount: number;
  readonly failedAt: number | undefined;
  readonly backoffUntil: number | undefined;
}

/** Sums up the changes by attempts, in their order. */
export function toHookChange(records: readonly AttemptRecord[]): HookChange {
  let last: HookChange["last"];
  let isReset = false;
  let failureCount = 0;
  let failedAt: number | undefined;
  let backoffUntil: number | undefined;
  for (const record of records) {
    if (record.backoffUntil !== undefined) {
      backoffUntil = Math.max(backoffUntil ?? 0, record.backoffUntil);
    }
    if (record.isSilent) continue;
    const isSuccess = record.result === "succeeded";
    last = { status: isSuccess ? "succeeded" : "failed", at: record.at };
    if (isSuccess) {
      [isReset, failureCount, failedAt] = [true, 0, undefined];
    } else if (record.isSent) {
      failureCount += 1;
      failedAt ??= record.at;
    }
  }
  return { last, isReset, failureCount, failedAt, backoffUntil };
}

/** The row of a hook after attempts, as their change will be stored. */
export function changeHook(hook: Hook, change: HookChange): Hook {
  const { last, isReset, failureCount, failedAt = null, backoffUntil } = change;
  const before = isReset ? { failingSince: null, failureCount: 0 } : hook;
  return {
    ...hook,
    ...(last && { lastStatus: last.status, lastDeliveredAt: last.at }),
    failingSince: before.failingSince ?? failedAt,
    failureCount: before.failureCount + failureCount,
    ...(backoffUntil !== undefined && {
      backoffUntil: Math.max(hook.backoffUntil ?? 0, backoffUntil),
    }),
  };
}
