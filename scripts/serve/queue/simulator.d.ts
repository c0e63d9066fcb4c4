/**
 * The parts of Miniflare's simulator of queues that the local queue uses. Plugin.ts adds its
 * module.
 */

/** The object of a queue: its messages, and the batches in which it sends them to the consumer. */
export class QueueBrokerObject {
  constructor(state: DurableObjectState, env: object);
  fetch(request: Request): Promise<Response>;
  /**
   * Tells Miniflare's process what became of a batch, by a request that the next batch waits for.
   */
  logWithLevel(level: number, message: string): Promise<void>;
}
