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

/** Requests that one hook gets at once, once it has answered one well. */
const AT_ONCE_MAX = 4;
const REDIRECTS_MAX = 3;
/** The longest delay of a message. */
const DELAY_SECONDS_MAX = 43_200;

/**
 * Sends these hooks what is to be sent by now, as far as nobody else does. Within a hook, things that
 * happened in one repository are first told in their order. What it does not get to it leaves to a
 * message of its own.
 *
 * Cost: one call to the database, one for each attempt, and one at the end of each hook.
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
        await deliverOn(run, lease, due);
      } catch (error) {
        // It takes no other hook along. The lane is free again after a while, and the schedule sees it.
        logBug(`hook ${lease.hook.id}`, error);
      }
    }),
  );
}

/** Sends one hook what there is, then gives it back. */
async function deliverOn(run: DeliveryRun, lease: HookLease, first: DueDelivery[]): Promise<void> {
  const { ctx, clock } = run;
  for (let due = first; ;) {
    await sendAll(run, lease, due);
    const rest = await releaseLease(ctx, lease, clock.now(), isStopped(run, lease));
    if (rest.due.length === 0) return comeBack(run, lease, rest.nextAt);
    due = rest.due;
  }
}

const isStopped = (run: DeliveryRun, { hook, token }: HookLease): boolean =>
  run.isExhausted || token === undefined || isBackingOff(hook, run.clock.now());

/**
 * Sends a message for what waits. Where nothing was tried again, one was sent when it began to wait,
 * but for what comes any moment by the clock of another machine.
 */
async function comeBack(
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
 * Sends as much of a list as may be sent now. Of one repository the next waits for the one before;
 * several repositories go beside each other once the receiver has shown that it is there.
 */
async function sendAll(
  run: DeliveryRun,
  lease: HookLease,
  due: readonly DueDelivery[],
): Promise<void> {
  const waiting = [...due];
  const busyRepos = new Set<number>();
  const open = new Set<Promise<void>>();
  const take = (): DueDelivery | undefined => {
    if (isStopped(run, lease)) return undefined;
    const at = waiting.findIndex(
      ({ repoId, isRequested }) => !busyRepos.has(repoId) && (isRequested || isEnabled(lease.hook)),
    );
    return at < 0 ? undefined : waiting.splice(at, 1)[0];
  };
  try {
    for (;;) {
      const next = open.size < (lease.isProven ? AT_ONCE_MAX : 1) ? take() : undefined;
      if (next) {
        busyRepos.add(next.repoId);
        const work = sendOne(run, lease, next).finally(() => {
          busyRepos.delete(next.repoId);
          open.delete(work);
        });
        open.add(work);
      } else if (open.size > 0) {
        await Promise.race(open);
      } else {
        return;
      }
    }
  } finally {
    await Promise.allSettled(open);
  }
}

/** One attempt, from its turn to what is written of it. */
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
  const ended = (outcome: AttemptOutcome): Attempt => ({
    request: undefined,
    message: null,
    outcome,
    durationMs: clock.now() - startedAt,
  });
  try {
    const opened = await openDelivery(ctx, hook, due);
    if (opened.kind !== "ready") return ended(opened);
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
    return { ...ended(outcome), request, message };
  } catch (error) {
    // One that can't be made must not keep those behind it waiting for ever.
    logBug(`delivery ${due.uuid}`, error);
    return ended({ kind: "broken" });
  }
}
