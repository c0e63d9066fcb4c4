import { env } from "cloudflare:workers";
import { afterEach, beforeEach } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Calls of D1 while a test or a file ran, whoever sent them: what the ledger bounds. */
    d1Calls?: number;
  }
}

declare global {
  /** Of the isolate, which outlives the files that run in it. */
  var d1Calls: number | undefined;
}

/** What the runtime's own sessions send every call through: the one by HTTP, the other by RPC. */
const SENDERS = ["_send", "_queryOrThrow"];

if (globalThis.d1Calls === undefined) {
  globalThis.d1Calls = 0;
  const session: Record<string, unknown> = Object.getPrototypeOf(env.DB.withSession());
  for (const name of SENDERS) {
    const send = session[name];
    if (typeof send !== "function") throw new Error(`D1 has no ${name} to count its calls by`);
    session[name] = function (this: unknown, ...args: unknown[]): unknown {
      globalThis.d1Calls = callsSoFar() + 1;
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
