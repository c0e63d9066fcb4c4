import type { Ctx } from "../context.ts";
import { forwardEvents } from "../domain/events/forward-events.ts";
import { listOrphaned } from "../domain/git/list-orphaned.ts";
import { removeLooseFiles } from "../domain/lfs/remove-loose-files.ts";
import { deliverDue } from "../domain/webhooks/delivery/deliver-due.ts";
import { maintainWebhooks } from "../domain/webhooks/maintain-webhooks.ts";
import { dispatchEvents } from "../domain/webhooks/dispatch/dispatch-events.ts";
import { requeueDue } from "../domain/webhooks/delivery/requeue-due.ts";
import { maintainRepository } from "../domain/git/maintain-repository.ts";
import type { DeliveryJob, EventJob } from "../storage/event-queues.ts";
import { logBug } from "../lib/log.ts";
import { settled } from "../lib/settled.ts";
import type { StorageJob } from "../storage/storage-job.ts";

/** What the messages of the queues ask for. */
export type Job = StorageJob | EventJob | DeliveryJob;

/** Deleted repositories that one run of the schedule sees to; the next one goes on. */
const ORPHANED_MAX = 100;

/** How long messages wait for what they ask to be delivered. */
const DELIVERY_WAIT_MS = 200;

/** The trigger of wrangler.toml that looks after webhooks; any other looks after storage. */
const EVERY_MINUTE = "* * * * *";

/**
 * Does what the messages of a batch ask for.
 *
 * @param openCtx A context for each: none knows of another's usage or time.
 */
export async function handleBatch(
  { messages }: Pick<MessageBatch<Job>, "messages">,
  openCtx: () => Ctx,
): Promise<void> {
  const dispatches = messages.filter(({ body }) => "kind" in body && body.kind === "dispatch");
  const deliveries = messages.filter((message) => "hookId" in message.body);
  // One look finds all that there is to tell.
  if (dispatches.length > 0) {
    await handle(dispatches, async () => {
      await dispatchEvents(openCtx());
      await forwardEvents(openCtx());
    });
  }
  if (deliveries.length > 0) {
    const hookIds = deliveries.map(({ body }) => (body as DeliveryJob).hookId);
    await handle(deliveries, () => deliverBehind(openCtx(), hookIds));
  }
  for (const message of messages) {
    const { body } = message;
    if ("kind" in body && body.kind === "maintain") {
      await handle([message], () => maintainRepository(openCtx(), body));
    }
  }
}

/**
 * Delivers, and goes on behind the messages where receivers take their time: the next messages are
 * about other hooks. It waits for a moment, so that not too much is under way at once.
 */
async function deliverBehind(ctx: Ctx, hookIds: readonly number[]): Promise<void> {
  const work = deliverDue(ctx, hookIds);
  let isBehind = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      isBehind = true;
      resolve();
    }, DELIVERY_WAIT_MS);
  });
  // What fails in time is asked for again by its messages; after that the schedule does so.
  ctx.defer(work.catch((error: unknown) => isBehind && logBug("deliveries", error)));
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

/** One that fails comes again and takes none of its neighbours along. */
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

/** Sends again for what should have been done by now, and removes what is left behind or kept long enough. */
export async function handleSchedule(cron: string, ctx: Ctx): Promise<void> {
  // None keeps another from its work.
  if (cron === EVERY_MINUTE) await settled([requeueDue(ctx), forwardEvents(ctx)]);
  else await settled([maintainStorage(ctx), maintainWebhooks(ctx)]);
}

async function maintainStorage(ctx: Ctx): Promise<void> {
  const locations = await listOrphaned(ctx, ORPHANED_MAX);
  for (const location of locations) await ctx.git.maintainLater(location);
  await removeLooseFiles(ctx);
}
