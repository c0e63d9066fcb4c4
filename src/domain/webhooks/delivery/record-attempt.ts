import { and, eq, isNull, lte, gte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hookDeliveries, hooks, repositories, type Hook } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { Clock } from "./delivery-run.ts";
import type { DueDelivery } from "./due-delivery.ts";
import { type Attempt, toStoredAttempt } from "./attempt.ts";
import { classifyOutcome, type AttemptResult } from "./classify-outcome.ts";
import { giveUpUnsendable, holdsLease, isEnabled, type HookLease, LEASE_MS } from "./hook-lease.ts";
import { ATTEMPTS_MAX, backoffMs, hookBackoffMs } from "./retry-schedule.ts";

/** Consecutive failed attempts before a hook is paused, in addition to the configured time. */
const PAUSE_FAILURES_MIN = 10;

/**
 * Records the result of an attempt and renews the lease. Has no effect if the lease was lost.
 *
 * Cost: one round trip.
 */
export function recordAttempt(
  ctx: Ctx,
  clock: Clock,
  lease: HookLease,
  due: DueDelivery,
  attempt: Attempt,
): Promise<void> {
  return lease.writes.run(async () => {
    const { token } = lease;
    if (token === undefined) return;
    const now = clock.now();
    const result = classifyOutcome(attempt.outcome, now);
    if (result.kind === "retried" || due.attemptCount > 0) lease.hasRetries = true;
    if (result.kind === "succeeded" && attempt.request) lease.isProven = true;
    const renewed = now + LEASE_MS;
    const hook = await write({ ctx, clock, lease, due, attempt, result, now, token, renewed });
    lease.token = hook ? renewed : undefined;
    if (hook) lease.hook = hook;
  });
}

interface AttemptRecord {
  ctx: Ctx;
  clock: Clock;
  lease: HookLease;
  due: DueDelivery;
  attempt: Attempt;
  result: AttemptResult;
  now: number;
  token: number;
  renewed: number;
}

/** @returns The hook's current row; undefined if the lease was lost or the hook was deleted. */
async function write(record: AttemptRecord): Promise<Hook | undefined> {
  const { ctx, lease, now, renewed } = record;
  const { db } = ctx;
  const { id } = lease.hook;
  const updates = [updateDelivery(record), updateHook(record)] as const;
  if (!reachesPauseLimit(record)) {
    const [, [hook]] = await db.batch(updates);
    return hook;
  }
  const failedBy = now - ctx.config.hookPauseMs;
  const [, [hook], [paused]] = await db.batch([
    ...updates,
    db
      .update(hooks)
      .set({ pausedAt: now })
      .where(
        and(
          eq(hooks.id, id),
          eq(hooks.leasedUntil, renewed),
          // The hook may have been activated again meanwhile.
          eq(hooks.isActive, true),
          isNull(hooks.pausedAt),
          lte(hooks.failingSince, failedBy),
          gte(hooks.failureCount, PAUSE_FAILURES_MIN),
        ),
      )
      .returning(),
    recordIfChanged(
      { ...ctx, now },
      { type: "hook.paused", ...eventOwnerOf(lease.hook), hookId: id },
    ),
    giveUpUnsendable(ctx, [id], renewed, now),
  ]);
  return paused ?? hook;
}

/** Leaves the delivery pending if a redelivery was requested during the attempt. */
function updateDelivery({ ctx, clock, due, attempt, result, now, token }: AttemptRecord) {
  const attemptCount = due.attemptCount + 1;
  const isRetried = result.kind === "retried" && attemptCount < ATTEMPTS_MAX;
  const waitMs = isRetried ? (result.waitMs ?? backoffMs(attemptCount, clock.random())) : 0;
  return ctx.db
    .update(hookDeliveries)
    .set({
      ...toStoredAttempt(attempt, ctx.config.deliverTimeoutMs),
      status: isRetried ? "pending" : result.kind === "succeeded" ? "succeeded" : "failed",
      attemptCount,
      nextAttemptAt: isRetried ? now + waitMs : null,
      updatedAt: now,
    })
    .where(
      and(
        eq(hookDeliveries.id, due.id),
        eq(hookDeliveries.nextAttemptAt, due.nextAttemptAt ?? 0),
        holdsLease(token),
      ),
    );
}

function updateHook({ ctx, lease, attempt, result, now, token, renewed }: AttemptRecord) {
  const { id, failureCount } = lease.hook;
  const isSilent = attempt.outcome.kind === "silent";
  // An attempt that sent no request is not a failure of the receiver.
  const isSent = attempt.request !== undefined;
  const hookWaitMs =
    result.kind !== "retried"
      ? undefined
      : result.isUnanswered
        ? hookBackoffMs(failureCount + 1)
        : result.waitMs;
  return ctx.db
    .update(hooks)
    .set({
      leasedUntil: renewed,
      ...(!isSilent && { lastDeliveredAt: now }),
      ...(!isSilent &&
        (result.kind === "succeeded"
          ? { lastStatus: "succeeded", failingSince: null, failureCount: 0 }
          : {
              lastStatus: "failed",
              ...(isSent && {
                failingSince: sql`coalesce(${hooks.failingSince}, ${now})`,
                failureCount: sql`${hooks.failureCount} + 1`,
              }),
            })),
      ...(hookWaitMs !== undefined && {
        backoffUntil: sql`max(coalesce(${hooks.backoffUntil}, 0), ${now + hookWaitMs})`,
      }),
    })
    .where(and(eq(hooks.id, id), eq(hooks.leasedUntil, token)))
    .returning();
}

/** Whether this failure reaches the limit at which the hook is paused, as of its last read row. */
function reachesPauseLimit({ ctx, lease: { hook }, attempt, result, now }: AttemptRecord): boolean {
  return (
    result.kind !== "succeeded" &&
    attempt.request !== undefined &&
    isEnabled(hook) &&
    hook.failingSince !== null &&
    hook.failingSince <= now - ctx.config.hookPauseMs &&
    hook.failureCount + 1 >= PAUSE_FAILURES_MIN
  );
}

/** The owner and repository of an event about a hook. */
function eventOwnerOf({ repoId, ownerId }: Hook) {
  if (repoId === null) return { ownerId: ownerId ?? 0 };
  const owner = sql`(
    select ${repositories.ownerId} from ${repositories} where ${repositories.id} = ${repoId}
  )`;
  return { ownerId: owner, repoId };
}
