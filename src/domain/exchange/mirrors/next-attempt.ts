import type { MirrorState, PushMirror } from "../../../db/schema/index.ts";
import type { RemoteFailure } from "../../../outgoing/remote-failure.ts";

/** The first wait after a failure, and the longest, in milliseconds. */
const BACK_OFF_MIN_MS = 10 * 60_000;
const BACK_OFF_MAX_MS = 24 * 3600_000;
/** Attempts after which the wait is the longest anyway. */
const DOUBLINGS_MAX = 10;

/** The columns of a mirror's health. */
export type MirrorHealth = Pick<
  PushMirror,
  | "state"
  | "failureCount"
  | "failingSince"
  | "lastError"
  | "attemptedAt"
  | "syncedAt"
  | "dueAt"
  | "leasedUntil"
>;
type Health = Pick<MirrorHealth, "failureCount" | "failingSince" | "syncedAt">;

/** The columns after an attempt that succeeded. */
export const afterSuccess = (intervalSeconds: number, now: number): MirrorHealth => ({
  state: "ok",
  failureCount: 0,
  failingSince: null,
  lastError: "",
  attemptedAt: now,
  syncedAt: now,
  dueAt: intervalSeconds > 0 ? now + intervalSeconds * 1000 : null,
  leasedUntil: 0,
});

/** How a mirror that failed goes on. */
export interface RetryRules {
  readonly intervalSeconds: number;
  /** Whether it is tried again although it has no interval. */
  readonly isAlwaysRetried: boolean;
  /** A mirror that fails for so long is paused. */
  readonly pauseMs: number;
  /** From 0 to 1, to spread the attempts of many mirrors. */
  readonly random: number;
}

/**
 * The columns after an attempt that failed.
 *
 * The delay doubles with each failure, and is never shorter than the interval: a host that is down
 * is not asked more often than a healthy one. A retry time from the remote replaces the delay.
 */
export function afterFailure(
  mirror: Health,
  failure: Pick<RemoteFailure, "message" | "retryAt">,
  { intervalSeconds, isAlwaysRetried, pauseMs, random }: RetryRules,
  now: number,
): MirrorHealth {
  const failingSince = mirror.failingSince ?? now;
  const failureCount = mirror.failureCount + 1;
  const isPaused = now - failingSince >= pauseMs;
  const backOffMs = Math.min(
    BACK_OFF_MIN_MS * 2 ** Math.min(failureCount - 1, DOUBLINGS_MAX),
    BACK_OFF_MAX_MS,
  );
  const waitMs = Math.max(backOffMs, intervalSeconds * 1000) * (1 + random / 10);
  const isRetried = !isPaused && (intervalSeconds > 0 || isAlwaysRetried);
  const state: MirrorState = isPaused ? "paused" : "failing";
  return {
    state,
    failureCount,
    failingSince,
    lastError: failure.message,
    attemptedAt: now,
    syncedAt: mirror.syncedAt,
    dueAt: isRetried ? Math.round(Math.max(now + waitMs, failure.retryAt ?? 0)) : null,
    leasedUntil: 0,
  };
}
