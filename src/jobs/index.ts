import type { Ctx } from "../context.ts";
import { runConsequences } from "../domain/consequences/run-consequences.ts";
import { sendEntries } from "../domain/cross-shard/send-entries.ts";
import { runScheduledTasks } from "../domain/cron/run-tasks.ts";
import { runShardTasks } from "../domain/shard-tasks/run-shard-tasks.ts";
import { forwardEvents } from "../domain/events/forward-events.ts";
import { passOnEvents } from "../domain/events/pass-on-events.ts";
import { sendDueMails } from "../domain/outbox/send-due-mails.ts";
import { deliverDue } from "../domain/webhooks/delivery/deliver-due.ts";
import { dispatchEvents } from "../domain/webhooks/dispatch/dispatch-events.ts";
import { collectObjects } from "../domain/git/collect-objects.ts";
import { maintainRepository } from "../domain/git/maintain-repository.ts";
import { runMoves } from "../domain/moves/run-moves.ts";
import { copyFromShard } from "../domain/shards/copy-from-shards.ts";
import { inDatabase } from "../domain/shards/in-database.ts";
import type {
  CopyOwnedJob,
  DeliveryJob,
  EventJob,
  MoveJob,
  ShardJob,
} from "../storage/event-queues.ts";
import { Patience } from "../lib/foreground.ts";
import { logBug } from "../lib/log.ts";
import { forEach } from "../lib/for-each.ts";
import type { RemoteJob } from "../storage/remote-jobs.ts";
import type { StorageJob } from "../storage/storage-job.ts";
import { isRemoteJob, runRemoteJob } from "./remote-jobs.ts";

/** The message types of the queues. */
export type Job =
  | StorageJob
  | EventJob
  | CopyOwnedJob
  | ShardJob
  | MoveJob
  | DeliveryJob
  | RemoteJob;

/** Databases whose events are dispatched concurrently: each may take much memory. */
const DISPATCHED_AT_ONCE = 2;

/** How old a message about the storage of a repository may become while requests come first, in milliseconds. */
const STORAGE_AGE_MS = 2000;
/** How long each such job lets requests come first even if its message is older, in milliseconds: as long as a few take. */
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
  if (dispatches.length > 0) {
    const shards = dispatches.flatMap(({ body }) => (body as EventJob).shards ?? [0]);
    await handle(dispatches, () =>
      forEach([...new Set(shards)], DISPATCHED_AT_ONCE, (shard) => dispatch(openCtx, shard)),
    );
  }
  await copyOwned(messages, openCtx);
  await handleDeliveries(messages, openCtx);
  // One run does the tasks of all messages.
  const tasks = messages.filter(({ body }) => "kind" in body && body.kind === "shard_tasks");
  if (tasks.length > 0) await handle(tasks, () => runShardTasks(openCtx()));
  const moves = messages.filter(({ body }) => "kind" in body && body.kind === "moves");
  if (moves.length > 0) await handle(moves, () => runMoves(openCtx()));
  await handleStorageJobs(messages, openCtx);
  // A slow host delays those of its own batch only.
  const remote = messages.map(async (message) => {
    const { body } = message;
    if (isRemoteJob(body)) await handle([message], () => runRemoteJob(openCtx(), body));
  });
  await Promise.all(remote);
}

/**
 * Handles jobs on the storage of repositories, one after the other: maintenance of each repository once. Nobody waits for them,
 * and a merge of packs takes as long as a request, so that each waits for a quiet moment of its own.
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

/** Copies from each shard that messages name, once. */
async function copyOwned(messages: readonly Message<Job>[], openCtx: () => Ctx): Promise<void> {
  const named = messages.flatMap((message) =>
    "kind" in message.body && message.body.kind === "copy-owned"
      ? [{ message, shard: message.body.shard }]
      : [],
  );
  for (const [shard, some] of Map.groupBy(named, (each) => each.shard)) {
    const about = some.map(({ message }) => message);
    await handle(about, async () => {
      const { directory, openShard } = openCtx();
      await copyFromShard(directory, openShard(shard));
    });
  }
}

/**
 * Handles all pending events of a database, and what it has for timelines of others. What their consequences record is dispatched by
 * another message.
 *
 * @param shard Its number.
 */
async function dispatch(openCtx: () => Ctx, shard: number): Promise<void> {
  const open = () => inDatabase(openCtx(), shard);
  // If a shard fails, the message is repeated; what the first database has is not kept waiting.
  const passing = passOnEvents(open());
  passing.catch(() => undefined);
  await dispatchEvents(open());
  const ctx = open();
  await runConsequences(ctx);
  await sendEntries(open());
  // The schedule sends the others.
  if (ctx.mailer.takeQueued()) await sendDueMails(openCtx());
  await forwardEvents(open());
  await passing;
}

/** Delivers to the hooks of each database in a run of its own, at once: together they have the connections of one. */
async function handleDeliveries(
  messages: readonly Message<Job>[],
  openCtx: () => Ctx,
): Promise<void> {
  const deliveries = messages.filter(({ body }) => "hookIds" in body) as Message<DeliveryJob>[];
  const byShard = Map.groupBy(deliveries, ({ body }) => body.shard ?? 0);
  const works = Array.from(byShard, ([shard, ofShard]) => {
    const hookIds = ofShard.flatMap(({ body }) => body.hookIds);
    return handle(ofShard, () =>
      deliverInBackground(inDatabase(openCtx(), shard), hookIds, byShard.size),
    );
  });
  await Promise.all(works);
}

/**
 * Delivers, and continues after the batch if receivers are slow: the next batch is about other hooks. Waits
 * for a moment, to limit the deliveries under way.
 */
async function deliverInBackground(
  ctx: Ctx,
  hookIds: readonly number[],
  runCount: number,
): Promise<void> {
  const work = deliverDue(ctx, hookIds, undefined, runCount);
  let isInBackground = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      isInBackground = true;
      resolve();
    }, DELIVERY_WAIT_MS);
  });
  // A failure within that time is retried through its messages; a later one is requeued by the schedule.
  ctx.defer(work.catch((error: unknown) => isInBackground && logBug("deliveries", error)));
  await Promise.race([work, timeout]);
  clearTimeout(timer);
}

/** Retries the messages of a failed job only. */
async function handle(
  messages: readonly Pick<Message<Job>, "id" | "ack" | "retry">[],
  work: () => Promise<void>,
): Promise<void> {
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

/** Runs the tasks of a cron trigger: requeues overdue work, and removes garbage and rows past their retention. */
export const handleSchedule = (cron: string, ctx: Ctx): Promise<void> =>
  runScheduledTasks(ctx, cron);
