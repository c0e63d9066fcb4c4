import type { EventQueues } from "../../../../storage/event-queues.ts";

/**
 * How long hooks wait for the hooks of the next events, in milliseconds: the consumer then leases
 * all of them at once.
 */
const WAIT_MS = 100;

/**
 * Queues messages for the hooks of dispatched events: at once for the first ones, and then for
 * those that were added within a tenth of a second.
 */
export class DeliveryStarter {
  readonly #queues: EventQueues;
  #hookIds = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(queues: EventQueues) {
    this.#queues = queues;
  }

  /** @param hookIds Hooks whose deliveries are stored. */
  start(hookIds: Iterable<number>): void {
    for (const id of hookIds) this.#hookIds.add(id);
    if (this.#timer === undefined) this.#send();
  }

  /**
   * Sends what is left. Never rejects: the schedule starts deliveries whose message was refused.
   */
  async finish(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue();
    await this.#sending;
  }

  #send(): void {
    this.#timer = undefined;
    if (this.#hookIds.size === 0) return;
    this.#queue();
    this.#timer = setTimeout(() => this.#send(), WAIT_MS);
  }

  #queue(): void {
    if (this.#hookIds.size === 0) return;
    const hookIds = [...this.#hookIds];
    this.#hookIds = new Set();
    this.#sending = this.#sending.then(() => this.#queues.deliverSoon(hookIds));
  }
}
