import { log } from "../lib/log.ts";

/** Says that events wait for being handed out. Which ones, the database knows. */
export interface EventJob {
  readonly kind: "tell";
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
  #isTellingDue = false;

  constructor(events: Queue<EventJob>, deliveries: Queue<DeliveryJob>) {
    this.#events = events;
    this.#deliveries = deliveries;
  }

  /** Events are recorded on this behalf: whoever opened the context looks after they are stored. */
  noteRecorded(): void {
    this.#isTellingDue = true;
  }

  /** Has events handed out if any were recorded since the last time. */
  async tellRecorded(): Promise<void> {
    if (!this.#isTellingDue) return;
    this.#isTellingDue = false;
    await this.tellSoon();
  }

  /** Has the events handed out that wait for it. */
  async tellSoon(): Promise<void> {
    await attempt(() => this.#events.send({ kind: "tell" }));
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

async function attempt(send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    log("events:not-queued", { reason: String(error) });
  }
}
