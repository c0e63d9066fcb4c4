import { env } from "cloudflare:workers";
import { afterEach, beforeEach } from "vitest";

import { isInQueueConsumer } from "./queue-consumer.ts";

declare module "vitest" {
  interface TaskMeta {
    /**
     * D1 calls while a test or a file ran, from the test or from requests to the service. The ledger bounds them. Calls of
     * the queue consumer are none of them: its messages arrive a second later, in whichever test runs then.
     */
    d1Calls?: number;
  }
}

declare global {
  /** Total of the isolate, which outlives the test files that run in it. */
  var d1Calls: number | undefined;
}

/** The methods of a D1 session that every call passes through: the first by HTTP, the second by RPC. */
const SENDERS = ["_send", "_queryOrThrow"];
/** Those of a session of the local database. */
const LOCAL_SENDERS = ["send"];

if (globalThis.d1Calls === undefined) {
  globalThis.d1Calls = 0;
  const session: Record<string, unknown> = Object.getPrototypeOf(env.DB.withSession());
  for (const name of env.LOCAL_DB ? LOCAL_SENDERS : SENDERS) {
    const send = session[name];
    if (typeof send !== "function") throw new Error(`D1 has no ${name} to count its calls by`);
    session[name] = function (this: unknown, ...args: unknown[]): unknown {
      if (!isInQueueConsumer()) globalThis.d1Calls = callsSoFar() + 1;
      return Reflect.apply(send, this, args);
    };
  }
}

function callsSoFar(): number {
  return globalThis.d1Calls ?? 0;
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
