import { log } from "../lib/log.ts";

/**
 * A message that something waits to be synchronized with another host or taken over from there, or
 * that ends. The database has the tasks, and their due times.
 */
export type RemoteJob =
  | { readonly kind: "pull-mirror"; readonly repoId: number }
  | { readonly kind: "push-mirror"; readonly mirrorId: number }
  | { readonly kind: "import"; readonly importId: number }
  /** Repositories have ended, or do so soon. */
  | { readonly kind: "end-repositories" };

/** Messages that the platform accepts in one batch. */
const SENT_AT_ONCE_MAX = 100;

/**
 * The queue of mirrors, imports and ends of repositories. A message that is lost or repeated
 * changes nothing: the schedule sends what is due.
 */
export class RemoteJobs {
  readonly #queue: Queue<RemoteJob>;

  constructor(queue: Queue<RemoteJob>) {
    this.#queue = queue;
  }

  /** Queues jobs. A refusal of the queue is logged, and the caller does not fail. */
  async send(jobs: readonly RemoteJob[]): Promise<void> {
    try {
      for (let at = 0; at < jobs.length; at += SENT_AT_ONCE_MAX) {
        const part = jobs.slice(at, at + SENT_AT_ONCE_MAX);
        await this.#queue.sendBatch(part.map((body) => ({ body })));
      }
    } catch (error) {
      log("remotes:not-queued", { reason: String(error) });
    }
  }
}
