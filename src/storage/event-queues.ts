import { log } from "../lib/log.ts";

/** Says that events wait for being handed out. Which ones, the database knows. */
export interface EventJob {
  readonly kind: "dispatch";
}

/** Names a hook that something waits for. */
export interface DeliveryJob {
  readonly hookId: number;
}

/** Messages that the platform takes at once. */
const SENT_AT_ONCE_MAX = 100;

/**
 * The queues behind webhooks. A message only says that it is time to look: what is to be done is in the
 * database, so one that is lost, comes twice or out of order changes nothing. A queue that takes none is
 * logged, and fails nobody: the schedule looks, too.
 */
export class EventQueues {
  readonly #events: Queue<EventJob>;
  readonly #deliveries: Queue<DeliveryJob>;
  readonly #out: Queue<object> | undefined;
  #isDispatchDue = false;

  /** @param out Where the operator wants all events to go, if anywhere. */
  constructor(events: Queue<EventJob>, deliveries: Queue<DeliveryJob>, out?: Queue<object>) {
    this.#events = events;
    this.#deliveries = deliveries;
    this.#out = out;
  }

  /** Whether events go to a queue of the operator. */
  get isForwarding(): boolean {
    return this.#out !== undefined;
  }

  /**
   * Sends to the queue of the operator, in this order.
   *
   * @param messages 100 at most, of 256 KB together.
   * @returns False if the queue takes none of them.
   */
  async forward(messages: readonly object[]): Promise<boolean> {
    return attempt(async () => this.#out?.sendBatch(messages.map((body) => ({ body }))));
  }

  /** Events are recorded on this behalf: whoever opened the context looks after they are stored. */
  noteRecorded(): void {
    this.#isDispatchDue = true;
  }

  /** Has events handed out if any were recorded since the last time. */
  async dispatchRecorded(): Promise<void> {
    if (!this.#isDispatchDue) return;
    this.#isDispatchDue = false;
    await this.dispatchSoon();
  }

  /** Has the events handed out that wait for it. */
  async dispatchSoon(): Promise<void> {
    await attempt(() => this.#events.send({ kind: "dispatch" }));
  }

  /**
   * Has hooks delivered to.
   *
   * @param delaySeconds How long to wait with it, at most 12 hours.
   */
  async deliverSoon(hookIds: readonly number[], delaySeconds = 0): Promise<void> {
    const messages = [...new Set(hookIds)].map((hookId) => ({ body: { hookId } }));
    for (let at = 0; at < messages.length; at += SENT_AT_ONCE_MAX) {
      const part = messages.slice(at, at + SENT_AT_ONCE_MAX);
      await attempt(() => this.#deliveries.sendBatch(part, { delaySeconds }));
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
