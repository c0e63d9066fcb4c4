import type { Database } from "../db/db.ts";
import { log } from "../lib/log.ts";

/** A message that events are ready to be dispatched. Their databases list them. */
export interface EventJob {
  readonly kind: "dispatch";
  /** The numbers of the databases; the first one where it is missing. */
  readonly shards?: readonly number[];
}

/** A message that columns changed which a shard owns: the first database gets copies. */
export interface CopyOwnedJob {
  readonly kind: "copy-owned";
  readonly shard: number;
}

/** A message that shards have tasks. The first database lists them. */
export interface ShardJob {
  readonly kind: "shard_tasks";
}

/** A message that moves of repositories can go on. The first database lists them. */
export interface MoveJob {
  readonly kind: "moves";
}

/** A message that hooks have due deliveries. */
export interface DeliveryJob {
  readonly hookIds: readonly number[];
  /** The number of the database with the deliveries; the first one where it is missing. */
  readonly shard?: number;
}

/** The database that something is stored in, by its number. */
type InDatabase = Pick<Database, "shard">;

/** What a message says of its database: nothing of the first one. */
export const shardOf = ({ shard }: InDatabase): { shard?: number } =>
  shard === 0 ? {} : { shard };

/** Hooks of one message. Batches have ten messages (wrangler.toml), and one run delivers to the hooks of a batch. */
const HOOKS_OF_MESSAGE_MAX = 10;

/** Messages that the platform accepts in one batch. */
const SENT_AT_ONCE_MAX = 100;

/**
 * The queues behind webhooks. A message is only a trigger: the work itself is stored in the database, so
 * messages that are lost, repeated or out of order change nothing. A refused message is logged, and the
 * caller does not fail: the schedule requeues the work.
 */
export class EventQueues {
  readonly #events: Queue<EventJob | CopyOwnedJob | ShardJob | MoveJob>;
  readonly #deliveries: Queue<DeliveryJob>;
  readonly #out: Queue<object> | undefined;
  #recordedIn = new Set<number>();
  #hasShardTasks = false;
  #movesAfterSeconds: number | undefined;
  readonly #changedShards = new Set<number>();

  /** @param out The operator's queue that receives all events, if configured. */
  constructor(
    events: Queue<EventJob | CopyOwnedJob | ShardJob | MoveJob>,
    deliveries: Queue<DeliveryJob>,
    out?: Queue<object>,
  ) {
    this.#events = events;
    this.#deliveries = deliveries;
    this.#out = out;
  }

  /** Whether events are forwarded to a queue of the operator. */
  get isForwarding(): boolean {
    return this.#out !== undefined;
  }

  /**
   * Sends messages to the operator's queue, in this order.
   *
   * @param messages At most 100, with at most 256 KB together.
   * @returns False if the queue refuses them.
   */
  async forward(messages: readonly object[]): Promise<boolean> {
    return attempt(async () => this.#out?.sendBatch(messages.map((body) => ({ body }))));
  }

  /**
   * Notes that events are being recorded in a database; the opener of this context queues the dispatch after they are
   * stored.
   */
  noteRecorded({ shard }: InDatabase): void {
    this.#recordedIn.add(shard);
  }

  /**
   * Notes that repositories' own data may be changing in a shard, in the same way: what the first database shows of it is
   * copied after that.
   *
   * @param shard 0, the first database, has nothing to copy.
   */
  noteChanged(shard: number): void {
    if (shard !== 0) this.#changedShards.add(shard);
  }

  /** Notes that tasks of shards are being stored in this context; its opener queues them afterwards. */
  noteShardTasks(): void {
    this.#hasShardTasks = true;
  }

  /** Notes that a move can go on after a while; the opener of this context queues it afterwards. */
  noteMoves(delaySeconds = 0): void {
    this.#movesAfterSeconds = Math.min(delaySeconds, this.#movesAfterSeconds ?? delaySeconds);
  }

  /** Whether events were recorded, moves can go on, tasks of shards stored, or shards changed, since the last dispatch. */
  get hasRecorded(): boolean {
    const hasJobs = this.#hasShardTasks || this.#movesAfterSeconds !== undefined;
    return this.#recordedIn.size > 0 || hasJobs || this.#changedShards.size > 0;
  }

  /**
   * Queues a dispatch if any events were recorded since the last call, the tasks of shards if any were stored, and copies from
   * shards that were changed.
   */
  async dispatchRecorded(): Promise<void> {
    if (this.#hasShardTasks) {
      this.#hasShardTasks = false;
      await attempt(() => this.#events.send({ kind: "shard_tasks" }));
    }
    const delaySeconds = this.#movesAfterSeconds;
    if (delaySeconds !== undefined) {
      this.#movesAfterSeconds = undefined;
      await attempt(() => this.#events.send({ kind: "moves" }, { delaySeconds }));
    }
    const changed = [...this.#changedShards];
    this.#changedShards.clear();
    const recordedIn = [...this.#recordedIn];
    this.#recordedIn = new Set();
    if (recordedIn.length > 0) await this.dispatchSoon(recordedIn);
    for (const shard of changed) {
      await attempt(() => this.#events.send({ kind: "copy-owned", shard }));
    }
  }

  /** Queues a dispatch of pending events of databases, by their numbers. */
  async dispatchSoon(shards: readonly number[]): Promise<void> {
    const isFirstAlone = shards.every((shard) => shard === 0);
    const job: EventJob = { kind: "dispatch", ...(!isFirstAlone && { shards }) };
    await attempt(() => this.#events.send(job));
  }

  /** Queues deliveries to hooks. */
  async deliverSoon(hookIds: readonly number[], database: InDatabase): Promise<void> {
    const hooks = [...new Set(hookIds)].map((hookId) => ({ hookId, delaySeconds: 0 }));
    await this.deliverAt(hooks, database);
  }

  /**
   * Queues deliveries to different hooks, each after a delay of at most 12 hours.
   *
   * @param database Where the deliveries are stored.
   * @param isApart Whether each hook has a message of its own, so that consumers share them.
   */
  async deliverAt(
    hooks: readonly { readonly hookId: number; readonly delaySeconds: number }[],
    database: InDatabase,
    { isApart = false } = {},
  ): Promise<void> {
    const sizeMax = isApart ? 1 : HOOKS_OF_MESSAGE_MAX;
    const messages: { body: DeliveryJob; delaySeconds: number }[] = [];
    for (const [delaySeconds, group] of Map.groupBy(hooks, (hook) => hook.delaySeconds)) {
      for (let at = 0; at < group.length; at += sizeMax) {
        const hookIds = group.slice(at, at + sizeMax).map(({ hookId }) => hookId);
        messages.push({ body: { hookIds, ...shardOf(database) }, delaySeconds });
      }
    }
    for (let at = 0; at < messages.length; at += SENT_AT_ONCE_MAX) {
      const part = messages.slice(at, at + SENT_AT_ONCE_MAX);
      await attempt(() => this.#deliveries.sendBatch(part));
    }
  }
}

async function attempt(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    log("events:not-queued", { reason: String(error) });
    return false;
  }
}
