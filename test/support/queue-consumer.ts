import worker from "../../src/worker.ts";

/** The queue consumer of the isolate, which outlives the test files that run in it. */
interface QueueConsumer {
  /** Batches that are handled now. */
  running: number;
  /** Ends when batches may be handled again. */
  pause: Promise<void> | undefined;
}

declare global {
  var queueConsumer: QueueConsumer | undefined;
}

/** Follows the batches of the isolate from its first test file on. */
function openQueueConsumer(): QueueConsumer {
  const opened: QueueConsumer = {
    running: 0,
    pause: undefined,
  };
  const queue = worker.queue.bind(worker);
  worker.queue = async (...args) => {
    while (opened.pause) await opened.pause;
    opened.running++;
    try {
      await queue(...args);
    } finally {
      opened.running--;
    }
  };
  return opened;
}

const consumer = (globalThis.queueConsumer ??= openQueueConsumer());

/** Whether the queue consumer handles batches now. */
export const isConsuming = (): boolean => consumer.running > 0;

/**
 * Waits until the queue consumer handles nothing, for some milliseconds at most. Returns the
 * milliseconds waited.
 */
export async function waitForConsumer(msMax = Infinity): Promise<number> {
  const startedAt = Date.now();
  const waited = () => Date.now() - startedAt;
  while (isConsuming() && waited() < msMax) await new Promise((ended) => setTimeout(ended, 10));
  return waited();
}

/**
 * Does some work while the queue consumer handles nothing: messages that other tests have sent
 * wait.
 */
export async function withoutQueueConsumer<T>(work: () => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>();
  consumer.pause = promise;
  try {
    await waitForConsumer();
    return await work();
  } finally {
    consumer.pause = undefined;
    resolve();
  }
}
