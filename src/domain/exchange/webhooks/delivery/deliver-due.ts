import type { Ctx } from "../../../../context.ts";
import { SIGNATURE_HEADERS } from "../../../../events/webhooks/deliveries/delivery-request.ts";
import { logBug } from "../../../../lib/log.ts";
import { type Clock, DeliveryRun, SYSTEM_CLOCK } from "./delivery-run.ts";
import type { DueDelivery } from "./due-delivery.ts";
import { type Attempt, RECORDED_BYTES_MAX } from "./attempt.ts";
import { AttemptRecorder } from "./attempt-recorder.ts";
import type { AttemptOutcome } from "./classify-outcome.ts";
import { acquireLeases, isBackingOff, isEnabled, type HookLease } from "./hook-lease.ts";
import { openDelivery } from "./open-delivery.ts";

/** Concurrent requests to one hook, once an attempt has succeeded. */
const AT_ONCE_MAX = 4;
/**
 * Attempts of one hook that may be made before their results are stored: as many are repeated after
 * a crash.
 */
const UNSTORED_MAX = 8;
const REDIRECTS_MAX = 3;

/**
 * Sends the due deliveries of these hooks, skipping hooks that another run has leased. Within a
 * hook, deliveries of one repository are first attempted in the order of their events. Work that
 * does not fit into this run is left to another queue message.
 *
 * Cost: one round trip to acquire the leases. The results of the attempts, and the leases of hooks
 * that are done, are stored together: all that end within a moment in one round trip.
 *
 * @param hookIds At most a few hundred.
 */
export async function deliverDue(
  ctx: Ctx,
  hookIds: readonly number[],
  clock: Clock = SYSTEM_CLOCK,
): Promise<void> {
  if (ctx.config.areWebhooksDisabled) return;
  const run = new DeliveryRun(ctx, clock);
  const recorder = new AttemptRecorder(run);
  const { hooks, payloads } = await acquireLeases(ctx, hookIds, clock.now());
  run.contents.add(payloads);
  // Receivers that failed lately take no connections from the others.
  const inTurn = hooks.toSorted((a, b) => failuresOf(a) - failuresOf(b));
  await Promise.all(
    inTurn.map(async ({ lease, due }) => {
      try {
        await recorder.follow(() => deliverHook({ run, recorder, lease }, due));
      } catch (error) {
        // The failure of one hook must not affect the others. The lease expires, and the schedule
        // requeues the hook.
        logBug(`hook ${lease.hook.id}`, error);
      }
    }),
  );
}

const failuresOf = ({ lease: { hook } }: { lease: HookLease }): number =>
  Math.min(hook.failureCount, 1);

/** The deliveries to one hook in a run. */
interface HookRun {
  readonly run: DeliveryRun;
  readonly recorder: AttemptRecorder;
  readonly lease: HookLease;
}

/** Sends the due deliveries of one hook, then releases the lease. */
async function deliverHook(hookRun: HookRun, first: readonly DueDelivery[]): Promise<void> {
  let due = first;
  do {
    await sendAll(hookRun, due);
    due = await hookRun.recorder.release(hookRun.lease);
  } while (due.length > 0);
}

const isStopped = ({ run, lease: { hook, token } }: HookRun): boolean =>
  run.isEnding || token === undefined || isBackingOff(hook, run.clock.now());

/** Whether results are to be stored before the next attempt: a failure, or many. */
const isStoringFirst = ({ isProven, unstored }: HookLease): boolean =>
  unstored.length >= (isProven ? UNSTORED_MAX : 1) ||
  unstored.some(({ result }) => result !== "succeeded");

/**
 * Sends the deliveries of a list that may be sent now. Deliveries of one repository are sent one
 * after the other; several repositories are sent concurrently once an attempt has succeeded.
 */
async function sendAll(hookRun: HookRun, due: readonly DueDelivery[]): Promise<void> {
  const { recorder, lease } = hookRun;
  const waiting = [...due];
  const busyRepos = new Set<number>();
  const inFlight = new Set<Promise<void>>();
  const findNext = (): number => {
    if (isStopped(hookRun)) return -1;
    return waiting.findIndex(
      ({ repoId, isRequested }) => !busyRepos.has(repoId) && (isRequested || isEnabled(lease.hook)),
    );
  };
  try {
    for (;;) {
      const at = findNext();
      const isRoom = inFlight.size < (lease.isProven ? AT_ONCE_MAX : 1);
      if (at >= 0 && isRoom && isStoringFirst(lease)) {
        const stored = recorder.stored(lease, inFlight.size === 0);
        await Promise.race([stored, ...inFlight]);
      } else if (at >= 0 && isRoom) {
        const [next] = waiting.splice(at, 1) as [DueDelivery];
        busyRepos.add(next.repoId);
        const work = sendOne(hookRun, next).finally(() => {
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

/** Makes one attempt, from waiting for a connection to recording the result. */
async function sendOne(hookRun: HookRun, due: DueDelivery): Promise<void> {
  const { run, recorder, lease } = hookRun;
  const attempt = await run.request(async () => {
    if (isStopped(hookRun)) return undefined;
    run.countAttempt();
    return sendAttempt(run, lease, due);
  });
  if (attempt) recorder.record(lease, due, attempt);
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
    const opened = await openDelivery(run, hook, due);
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
