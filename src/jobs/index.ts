import type { Ctx } from "../context.ts";
import { runConsequences } from "../domain/operations/consequences/run-consequences.ts";
import { takeEvents } from "../domain/operations/consequences/take-events.ts";
import { runScheduledTasks } from "../domain/operations/cron/run-tasks.ts";
import { forwardEvents } from "../domain/exchange/event-stream/forward-events.ts";
import { sendDueMails } from "../domain/operations/mail-delivery/send-due-mails.ts";
import { deliverDue } from "../domain/exchange/webhooks/delivery/deliver-due.ts";
import { dispatchEvents } from "../domain/exchange/webhooks/dispatch/dispatch-events.ts";
import { collectObjects } from "../domain/code/git/collect-objects.ts";
import { maintainRepository } from "../domain/code/git/maintain-repository.ts";
import type { DeliveryJob, EventJob } from "../storage/event-queues.ts";
import { Patience } from "../lib/foreground.ts";
import { logBug } from "../lib/log.ts";
import type { RemoteJob } from "../storage/remote-jobs.ts";
import type { StorageJob } from "../storage/storage-job.ts";
import { isRemoteJob, runRemoteJob } from "./remote-jobs.ts";

/** The message types of the queues. */
export type Job = StorageJob | EventJob | DeliveryJob | RemoteJob;

/**
 * How old a message about the storage of a repository may become while requests come first, in
 * milliseconds.
 */
const STORAGE_AGE_MS = 2000;
/**
 * How long each such job lets requests come first even if its message is older, in milliseconds: as
 * long as a few take.
 */
const STORAGE_PAUSE_MS = 50;

/** How long a batch waits for its deliveries. */
const DELIVERY_WAIT_MS = 200;

/**
 * Handles the messages of a batch.
 *
 * @param openCtx Opens a context for each job, so that usage and time are metered separately.
 */
export async function handleBatch(
  { messages }: Pick<MessageBatch<Job>, "messages">,
  openCtx: () => Ctx,
): Promise<void> {
  const dispatches = messages.filter(({ body }) => "kind" in body && body.kind === "dispatch");
  const deliveries = messages.filter(({ body }) => "hookIds" in body);
  if (dispatches.length > 0) await handle(dispatches, () => dispatch(openCtx));
  if (deliveries.length > 0) {
    const hookIds = deliveries.flatMap(({ body }) => (body as DeliveryJob).hookIds);
    await handle(deliveries, () => deliverInBackground(openCtx(), hookIds));
  }
  await handleStorageJobs(messages, openCtx);
  // A slow host delays the messages of its own batch only.
  const remote = messages.map(async (message) => {
    const { body } = message;
    if (isRemoteJob(body)) await handle([message], () => runRemoteJob(openCtx(), body));
  });
  await Promise.all(remote);
}

/**
 * Handles jobs on the storage of repositories, one after the other: maintenance of each repository
 * once. Nobody waits for them, and a merge of packs takes as long as a request, so that each waits
 * for a quiet moment of its own.
 */
async function handleStorageJobs(
  messages: readonly Message<Job>[],
  openCtx: () => Ctx,
): Promise<void> {
  const jobs = messages.filter(({ body }) => isStorageJob(body)) as Message<StorageJob>[];
  const alike = Map.groupBy(jobs, ({ id, body: { kind, objectName } }) =>
    kind === "maintain" ? objectName : id,
  );
  for (const some of alike.values()) {
    const [{ body, timestamp }] = some as [Message<StorageJob>];
    const leftMs = timestamp.getTime() + STORAGE_AGE_MS - Date.now();
    await new Patience(Math.max(leftMs, STORAGE_PAUSE_MS)).untilQuiet();
    await handle(some, () =>
      body.kind === "maintain"
        ? maintainRepository(openCtx(), body)
        : collectObjects(openCtx(), body),
    );
  }
}

const isStorageJob = (body: Job): body is StorageJob =>
  "kind" in body && (body.kind === "maintain" || body.kind === "collect");

/** Handles all pending events. Another message dispatches the events of their consequences. */
async function dispatch(openCtx: () => Ctx): Promise<void> {
  const { due, leased } = await takeEvents(openCtx());
  try {
    await dispatchEvents(openCtx(), due);
  } finally {
    const ctx = openCtx();
    await runConsequences(ctx, undefined, leased);
    // The schedule sends the others.
    if (ctx.mailer.takeQueued()) await sendDueMails(openCtx());
  }
  await forwardEvents(openCtx());
}

/**
 * Delivers, and continues after the batch if receivers are slow: the next batch is about other
 * hooks. Waits for a moment, to limit the deliveries under way.
 */
async function deliverInBackground(ctx: Ctx, hookIds: readonly number[]): Promise<void> {
  const work = deliverDue(ctx, hookIds);
  let isInBackground = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      isInBackground = true;
      resolve();
    }, DELIVERY_WAIT_MS);
  });
  // A failure within that time is retried through its messages; a later one is requeued by the
  // schedule.
  ctx.defer(work.catch((error: unknown) => isInBackground && logBug("deliveries", error)));
  await Promise.race([work, timeout]);
  clearTimeout(timer);
}

/** Retries the messages of a failed job only. */
async function handle(messages: readonly Message<Job>[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
    for (const message of messages) message.ack();
  } catch (error) {
    for (const message of messages) {
      logBug(message.id, error);
      message.retry();
    }
  }
}

/**
 * Runs the tasks of a cron trigger: requeues overdue work, and removes garbage and rows past their
 * retention.
 */
export const handleSchedule = (cron: string, ctx: Ctx): Promise<void> =>
  runScheduledTasks(ctx, cron);
