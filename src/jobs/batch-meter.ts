import { type D1, type D1Usage, meterD1 } from "../db/meter.ts";
import { Patience } from "../lib/foreground.ts";
import { log } from "../lib/log.ts";

/**
 * How long the calls of a batch wait for requests that are under way, all together, in
 * milliseconds.
 */
const PATIENCE_MS = 4;

/**
 * Meters the D1 usage of a batch of messages, including work that is deferred past the messages.
 */
export class BatchMeter {
  readonly #startedAt = Date.now();
  readonly #usages: D1Usage[] = [];
  readonly #deferred: Promise<unknown>[] = [];
  readonly #patience = new Patience(PATIENCE_MS);

  /**
   * Returns a metered replacement of `d1`. Each context has its own, since contexts do not wait for
   * one another. Its calls let requests of the isolate come first.
   */
  meter(d1: D1, counts: { rows: boolean }): D1 {
    const metered = meterD1(d1, counts, this.#patience.untilIdle);
    this.#usages.push(metered.usage);
    return metered.d1;
  }

  /** Registers deferred work. */
  follow(work: Promise<unknown>): void {
    this.#deferred.push(work);
  }

  /** Writes one log line, like the one of a request, once all work has ended. */
  async finish({ queue, messages }: Pick<MessageBatch, "queue" | "messages">): Promise<void> {
    // Deferred work may defer more work.
    for (let seen = -1; seen < this.#deferred.length;) {
      seen = this.#deferred.length;
      await Promise.allSettled(this.#deferred);
    }
    log("jobs", {
      queue,
      messages: messages.length,
      durationMs: Date.now() - this.#startedAt,
      d1Calls: this.#sum(({ calls }) => calls),
      d1RowsRead: this.#sum(({ rowsRead }) => rowsRead),
      d1RowsWritten: this.#sum(({ rowsWritten }) => rowsWritten),
    });
  }

  #sum(of: (usage: D1Usage) => number): number {
    return this.#usages.reduce((sum, usage) => sum + of(usage), 0);
  }
}
