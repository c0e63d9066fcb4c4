import type { Ctx } from "../../../context.ts";
import { SIGNATURE_HEADERS } from "../../../events/webhooks/deliveries/delivery-request.ts";
import { logBug } from "../../../lib/log.ts";
import { type Clock, DeliveryRun, SYSTEM_CLOCK } from "./delivery-run.ts";
import type { DueDelivery } from "./due-delivery.ts";
import { type Attempt, RECORDED_BYTES_MAX } from "./attempt.ts";
import type { AttemptOutcome } from "./classify-outcome.ts";
import {
  acquireLeases,
  isBackingOff,
  isEnabled,
  type HookLease,
  releaseLease,
} from "./hook-lease.ts";
import { recordAttempt } from "./record-attempt.ts";
import { openDelivery } from "./open-delivery.ts";

/** Concurrent requests to one hook, once an attempt has succeeded. */
const AT_ONCE_MAX = 4;
const REDIRECTS_MAX = 3;
/** The longest delay of a queue message, in seconds. */
const DELAY_SECONDS_MAX = 43_200;

/**
 * Sends the due deliveries of these hooks, skipping hooks that another run has leased. Within a hook,
 * deliveries of one repository are first attempted in the order of their events. Work that does not fit
 * into this run is left to another queue message.
 *
 * Cost: one round trip to acquire the leases, one for each attempt, and one at the end of each hook.
 */
export async function deliverDue(
  ctx: Ctx,
  hookIds: readonly number[],
  clock: Clock = SYSTEM_CLOCK,
): Promise<void> {
  if (ctx.config.areWebhooksDisabled) return;
  const run = new DeliveryRun(ctx, clock);
  const leased = await acquireLeases(ctx, hookIds, clock.now());
  await Promise.all(
    leased.map(async ({ lease, due }) => {
      try {
        await deliverHook(run, lease, due);
      } catch (error) {
        // The failure of one hook must not affect the others. The lease expires, and the schedule requeues
        // the hook.
        logBug(`hook ${lease.hook.id}`, error);
      }
    }),
  );
}

/** Sends the due deliveries of one hook, then releases the lease. */
async function deliverHook(
  run: DeliveryRun,
  lease: HookLease,
  first: DueDelivery[],
): Promise<void> {
  const { ctx, clock } = run;
  for (let due = first; ;) {
    await sendAll(run, lease, due);
    const rest = await releaseLease(ctx, lease, clock.now(), isStopped(run, lease));
    if (rest.due.length === 0) return requeue(run, lease, rest.nextAt);
    due = rest.due;
  }
}

const isStopped = (run: DeliveryRun, { hook, token }: HookLease): boolean =>
  run.isExhausted || token === undefined || isBackingOff(hook, run.clock.now());

/**
 * Queues a message for the next due delivery. If nothing was retried, no message is needed: one was queued
 * when the delivery was created. The exception is a delivery due within a second, since the clocks of
 * machines differ.
 */
async function requeue(
  { ctx, clock }: DeliveryRun,
  { hook, hasRetries }: HookLease,
  nextAt: number | null,
): Promise<void> {
  if (nextAt === null) return;
  const delaySeconds = Math.max(0, Math.ceil((nextAt - clock.now()) / 1000));
  if (delaySeconds > 1 && !hasRetries) return;
  await ctx.eventQueues.deliverSoon([hook.id], Math.min(delaySeconds, DELAY_SECONDS_MAX));
}

/**
 * Sends the deliveries of a list that may be sent now. Deliveries of one repository are sent one after the
 * other; several repositories are sent concurrently once an attempt has succeeded.
 */
async function sendAll(
  run: DeliveryRun,
  lease: HookLease,
  due: readonly DueDelivery[],
): Promise<void> {
  const waiting = [...due];
  const busyRepos = new Set<number>();
  const inFlight = new Set<Promise<void>>();
  const takeNext = (): DueDelivery | undefined => {
    if (isStopped(run, lease)) return undefined;
    const at = waiting.findIndex(
      ({ repoId, isRequested }) => !busyRepos.has(repoId) && (isRequested || isEnabled(lease.hook)),
    );
    return at < 0 ? undefined : waiting.splice(at, 1)[0];
  };
  try {
    for (;;) {
      const next = inFlight.size < (lease.isProven ? AT_ONCE_MAX : 1) ? takeNext() : undefined;
      if (next) {
        busyRepos.add(next.repoId);
        const work = sendOne(run, lease, next).finally(() => {
          busyRepos.delete(next.repoId);
          inFlight.delete(work);
        });
        inFlight.add(work);
      } else if (inFlight.size > 0) {
        await Promise.race(inFlight);
      } else {
        return;
      }
    }
  } finally {
    await Promise.allSettled(inFlight);
  }
}

/** Makes one attempt, from waiting for a request slot to recording the result. */
async function sendOne(run: DeliveryRun, lease: HookLease, due: DueDelivery): Promise<void> {
  const attempt = await run.requests.run(async () => {
    if (isStopped(run, lease)) return undefined;
    run.countAttempt();
    return sendAttempt(run, lease, due);
  });
  if (attempt) await recordAttempt(run.ctx, run.clock, lease, due, attempt);
}

async function sendAttempt(
  run: DeliveryRun,
  { hook }: HookLease,
  due: DueDelivery,
): Promise<Attempt> {
  const { ctx, clock } = run;
  const startedAt = clock.now();
  const finish = (outcome: AttemptOutcome): Attempt => ({
    request: undefined,
    message: null,
    outcome,
    durationMs: clock.now() - startedAt,
  });
  try {
    const opened = await openDelivery(ctx, hook, due);
    if (opened.kind !== "ready") return finish(opened);
    const { request, message } = opened;
    const { url, method, headers, body } = request;
    const outcome = await ctx.outgoing.fetchGuarded(
      url,
      { method, headers, body, secretHeaders: SIGNATURE_HEADERS },
      {
        timeoutMs: ctx.config.deliverTimeoutMs,
        bodyBytesMax: RECORDED_BYTES_MAX,
        redirectsMax: REDIRECTS_MAX,
      },
    );
    return { ...finish(outcome), request, message };
  } catch (error) {
    // A delivery that cannot be prepared must not block the ones behind it for ever.
    logBug(`delivery ${due.uuid}`, error);
    return finish({ kind: "broken" });
  }
}
