import { log } from "../lib/log.ts";

/** A message that events are ready to be dispatched. The database lists them. */
export interface EventJob {
  readonly kind: "dispatch";
}

/** A message that hooks have due deliveries. */
export interface DeliveryJob {
  readonly hookIds: readonly number[];
}

/**
 * Hooks of one message. Batches have ten messages (wrangler.toml), and one run delivers to the
 * hooks of a batch.
 */
const HOOKS_OF_MESSAGE_MAX = 10;

/** Messages that the platform accepts in one batch. */
const SENT_AT_ONCE_MAX = 100;

/**
 * The queues behind webhooks. A message is only a trigger: the work itself is stored in the
 * database, so messages that are lost, repeated or out of order change nothing. A refused message
 * is logged, and the caller does not fail: the schedule requeues the work.
 */
export class EventQueues {
  readonly #events: Queue<EventJob>;
  readonly #deliveries: Queue<DeliveryJob>;
  readonly #out: Queue<object> | undefined;
  #isDispatchDue = false;

  /** @param out The operator's queue that receives all events, if configured. */
  constructor(events: Queue<EventJob>, deliveries: Queue<DeliveryJob>, out?: Queue<object>) {
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
   * Notes that events are being recorded in this context; its opener queues the dispatch after they
   * are stored.
   *
   * @param isAwaited Whether some event is of a kind that is dispatched, or has consequences.
   */
  noteRecorded(isAwaited = true): void {
    if (isAwaited || this.isForwarding) this.#isDispatchDue = true;
  }

  /** Whether events were recorded since the last dispatch. */
  get hasRecorded(): boolean {
    return this.#isDispatchDue;
  }

  /** Queues a dispatch if any events were recorded since the last call. */
  async dispatchRecorded(): Promise<void> {
    if (!this.#isDispatchDue) return;
    this.#isDispatchDue = false;
    await this.dispatchSoon();
  }

  /** Queues a dispatch of pending events. */
  async dispatchSoon(): Promise<void> {
    await attempt(() => this.#events.send({ kind: "dispatch" }));
  }

  /** Queues deliveries to hooks. */
  async deliverSoon(hookIds: readonly number[]): Promise<void> {
    await this.deliverAt([...new Set(hookIds)].map((hookId) => ({ hookId, delaySeconds: 0 })));
  }

  /**
   * Queues deliveries to different hooks, each after a delay of at most 12 hours.
   *
   * @param isApart Whether each hook has a message of its own, so that consumers share them.
   */
  async deliverAt(
    hooks: readonly { readonly hookId: number; readonly delaySeconds: number }[],
    { isApart = false } = {},
  ): Promise<void> {
    const sizeMax = isApart ? 1 : HOOKS_OF_MESSAGE_MAX;
    const messages: { body: DeliveryJob; delaySeconds: number }[] = [];
    for (const [delaySeconds, group] of Map.groupBy(hooks, (hook) => hook.delaySeconds)) {
      for (let at = 0; at < group.length; at += sizeMax) {
        const hookIds = group.slice(at, at + sizeMax).map(({ hookId }) => hookId);
        messages.push({ body: { hookIds }, delaySeconds });
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
