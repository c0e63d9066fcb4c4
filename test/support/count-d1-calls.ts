import { afterEach, beforeEach } from "vitest";

import { d1Senders } from "./d1-senders.ts";
import { isInQueueConsumer } from "./queue-consumer.ts";

declare module "vitest" {
  interface TaskMeta {
    /**
     * D1 calls while a test or a file ran, from the test or from requests to the service. The
     * ledger bounds them. Calls of the queue consumer are none of them: its messages arrive a
     * second later, in whichever test runs then.
     */
    d1Calls?: number;
  }
}

declare global {
  /** Total of the isolate, which outlives the test files that run in it. */
  var d1Calls: number | undefined;
}

if (globalThis.d1Calls === undefined) {
  globalThis.d1Calls = 0;
  const { session, names } = d1Senders();
  for (const name of names) {
    const send = session[name] as (...args: unknown[]) => unknown;
    session[name] = function (this: unknown, ...args: unknown[]): unknown {
      if (!isInQueueConsumer()) globalThis.d1Calls = callsSoFar() + 1;
      return Reflect.apply(send, this, args);
    };
  }
}

function callsSoFar(): number {
  return globalThis.d1Calls ?? 0;
}

/** Calls whose D1 calls count for no test. */
export async function uncounted<T>(run: () => Promise<T>): Promise<T> {
  const before = callsSoFar();
  try {
    return await run();
  } finally {
    globalThis.d1Calls = before;
  }
}

const atStart = callsSoFar();
let beforeTest = atStart;

beforeEach(() => {
  beforeTest = callsSoFar();
});
afterEach(({ task }) => {
  task.meta.d1Calls = callsSoFar() - beforeTest;
  task.file.meta.d1Calls = callsSoFar() - atStart;
});
