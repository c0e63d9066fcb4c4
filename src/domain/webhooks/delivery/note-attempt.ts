import { and, eq, isNull, lte, gte, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hookDeliveries, hooks, repositories, type Hook } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { Clock } from "./delivery-run.ts";
import type { DueDelivery } from "./due-delivery.ts";
import { type Exchange, toKept } from "./exchange.ts";
import { judgeOutcome, type Verdict } from "./judge-outcome.ts";
import { giveUpUnsendable, isLentBy, isOpen, type Lane, LEASE_MS } from "./lane.ts";
import { ATTEMPTS_MAX, backoffMs, holdMs } from "./retry-schedule.ts";

/** Attempts in a row that must have failed until a hook is paused, besides the time that passed. */
const PAUSE_FAILURES_MIN = 10;

/**
 * Writes down what came of an attempt, and renews the lane; whoever lost it changes nothing.
 *
 * Cost: one call to the database.
 */
export function noteAttempt(
  ctx: Ctx,
  clock: Clock,
  lane: Lane,
  due: DueDelivery,
  exchange: Exchange,
): Promise<void> {
  return lane.writes.run(async () => {
    const { token } = lane;
    if (token === undefined) return;
    const now = clock.now();
    const verdict = judgeOutcome(exchange.outcome, now);
    if (verdict.kind === "retried" || due.attemptCount > 0) lane.hasRetries = true;
    if (verdict.kind === "succeeded" && exchange.request) lane.isProven = true;
    const renewed = now + LEASE_MS;
    const hook = await write({ ctx, clock, lane, due, exchange, verdict, now, token, renewed });
    lane.token = hook ? renewed : undefined;
    if (hook) lane.hook = hook;
  });
}

interface Attempt {
  ctx: Ctx;
  clock: Clock;
  lane: Lane;
  due: DueDelivery;
  exchange: Exchange;
  verdict: Verdict;
  now: number;
  token: number;
  renewed: number;
}

/** @returns The hook as it is now; undefined if somebody else has it or it is gone. */
async function write(attempt: Attempt): Promise<Hook | undefined> {
  const { ctx, lane, now, renewed } = attempt;
  const { db } = ctx;
  const { id } = lane.hook;
  const noted = [noteDelivery(attempt), noteHook(attempt)] as const;
  if (!isPausing(attempt)) {
    const [, [hook]] = await db.batch(noted);
    return hook;
  }
  const failedBy = now - ctx.config.hookPauseMs;
  const [, [hook], [paused]] = await db.batch([
    ...noted,
    db
      .update(hooks)
      .set({ pausedAt: now })
      .where(
        and(
          eq(hooks.id, id),
          eq(hooks.busyUntil, renewed),
          // Somebody may have activated it again meanwhile.
          eq(hooks.isActive, true),
          isNull(hooks.pausedAt),
          lte(hooks.failingSince, failedBy),
          gte(hooks.failureCount, PAUSE_FAILURES_MIN),
        ),
      )
      .returning(),
    recordIfChanged({ ...ctx, now }, { type: "hook.paused", ...placeOf(lane.hook), hookId: id }),
    giveUpUnsendable(ctx, [id], renewed, now),
  ]);
  return paused ?? hook;
}

/** Unless somebody asked for it once more while it was sent: then it is sent once more. */
function noteDelivery({ ctx, clock, due, exchange, verdict, now, token }: Attempt) {
  const attemptCount = due.attemptCount + 1;
  const isRetried = verdict.kind === "retried" && attemptCount < ATTEMPTS_MAX;
  const waitMs = isRetried ? (verdict.waitMs ?? backoffMs(attemptCount, clock.random())) : 0;
  return ctx.db
    .update(hookDeliveries)
    .set({
      ...toKept(exchange, ctx.config.deliverTimeoutMs),
      status: isRetried ? "pending" : verdict.kind === "succeeded" ? "succeeded" : "failed",
      attemptCount,
      nextAttemptAt: isRetried ? now + waitMs : null,
      updatedAt: now,
    })
    .where(
      and(
        eq(hookDeliveries.id, due.id),
        eq(hookDeliveries.nextAttemptAt, due.nextAttemptAt ?? 0),
        isLentBy(token),
      ),
    );
}

function noteHook({ ctx, lane, exchange, verdict, now, token, renewed }: Attempt) {
  const { id, failureCount } = lane.hook;
  const isSilent = exchange.outcome.kind === "silent";
  // What the service could not make says nothing of the receiver.
  const isSent = exchange.request !== undefined;
  const heldMs =
    verdict.kind !== "retried"
      ? undefined
      : verdict.isUnanswered
        ? holdMs(failureCount + 1)
        : verdict.waitMs;
  return ctx.db
    .update(hooks)
    .set({
      busyUntil: renewed,
      ...(!isSilent && { lastDeliveredAt: now }),
      ...(!isSilent &&
        (verdict.kind === "succeeded"
          ? { lastStatus: "succeeded", failingSince: null, failureCount: 0 }
          : {
              lastStatus: "failed",
              ...(isSent && {
                failingSince: sql`coalesce(${hooks.failingSince}, ${now})`,
                failureCount: sql`${hooks.failureCount} + 1`,
              }),
            })),
      ...(heldMs !== undefined && {
        heldUntil: sql`max(coalesce(${hooks.heldUntil}, 0), ${now + heldMs})`,
      }),
    })
    .where(and(eq(hooks.id, id), eq(hooks.busyUntil, token)))
    .returning();
}

/** Whether this attempt is one failure too many, as far as the hook is known. */
function isPausing({ ctx, lane: { hook }, exchange, verdict, now }: Attempt): boolean {
  return (
    verdict.kind !== "succeeded" &&
    exchange.request !== undefined &&
    isOpen(hook) &&
    hook.failingSince !== null &&
    hook.failingSince <= now - ctx.config.hookPauseMs &&
    hook.failureCount + 1 >= PAUSE_FAILURES_MIN
  );
}

/** To whom an event about a hook belongs. */
function placeOf({ repoId, ownerId }: Hook) {
  if (repoId === null) return { ownerId: ownerId ?? 0 };
  const owner = sql`(
    select ${repositories.ownerId} from ${repositories} where ${repositories.id} = ${repoId}
  )`;
  return { ownerId: owner, repoId };
}
