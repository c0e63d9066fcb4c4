import { env } from "cloudflare:workers";
import { isNotNull, or } from "drizzle-orm";
import { expect } from "vitest";

import { events } from "../../src/db/schema/index.ts";
import { db } from "./db.ts";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import type { Outgoing } from "../../src/outgoing/outgoing.ts";
import { withoutQueueConsumer } from "./queue-consumer.ts";
import { sampleOf, TAKES_ALL } from "./sample.ts";

/** How a call fails: which call, whether it takes effect, and whether the Worker survives it. */
export interface Fault {
  /** Index of the call, from 0. */
  at: number;
  /** The call takes effect, and its response is lost. */
  isDone: boolean;
  /** The Worker dies: no later call is made. */
  isDeath: boolean;
}

type Call = (...args: unknown[]) => unknown;

/**
 * The Worker's bindings, with one call that fails. Queue messages are counted, not sent.
 *
 * A call is a request from the Worker to D1, to the bucket, to an object, to a queue, or to another
 * host.
 */
export function failing(fault: Fault) {
  const calls: string[] = [];
  const objectNames = new Set<string>();
  let isDead = false;

  const attempt =
    (name: string, call: Call): Call =>
    async (...args) => {
      if (isDead) throw new Error(`dead before ${name}`);
      const isFaulty = calls.push(name) - 1 === fault.at;
      if (!isFaulty) return call(...args);
      isDead = fault.isDeath;
      if (fault.isDone) await call(...args);
      throw new Error(`no answer to ${name}`);
    };

  /** The same object with some of its methods replaced. */
  const replaced = <T extends object>(target: T, replace: (name: string, method: Call) => Call) =>
    new Proxy(target, {
      get: (_, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function") return value;
        // The methods of object stubs are proxies without `apply`.
        const method: Call = (...args) => (target as Record<string, Call>)[String(key)]?.(...args);
        return replace(String(key), method);
      },
    });

  const upload = (result: unknown): object =>
    replaced(result as object, (part, call) => attempt(`upload.${part}`, call));
  const bucket = replaced(env.PACKS, (name, method) =>
    // It makes no request.
    name === "resumeMultipartUpload"
      ? (...args) => upload(method(...args))
      : attempt(`bucket.${name}`, async (...args) => {
          const result = await method(...args);
          return name === "createMultipartUpload" ? upload(result) : result;
        }),
  );
  // The real batch takes the original statements, not their wrappers.
  const statements = new WeakMap<object, unknown>();
  const wrapped = (statement: object): object => {
    const wrapper = replaced(statement, (name, method) =>
      name === "bind"
        ? (...args) => wrapped(method(...args) as object)
        : attempt(`d1.${name}`, method),
    );
    statements.set(wrapper, statement);
    return wrapper;
  };
  const inSession: Record<string, (call: Call) => Call> = {
    prepare:
      (call) =>
      (...args) =>
        wrapped(call(...args) as object),
    batch: (call) =>
      attempt("d1.batch", (list) =>
        call((list as object[]).map((each) => statements.get(each) ?? each)),
      ),
  };
  const database = replaced(env.DB, (name, method) => (...args) => {
    const result = method(...args);
    if (name !== "withSession") return result;
    return replaced(result as object, (part, call) => inSession[part]?.(call) ?? call);
  });
  const objects = {
    getByName(name: string): object {
      objectNames.add(name);
      const stub = env.REPOSITORY.getByName(name);
      return replaced(stub, (part, call) => attempt(`object.${part}`, call));
    },
  };
  const queue = {
    send: attempt("queue.send", () => Promise.resolve()),
    sendBatch: attempt("queue.sendBatch", () => Promise.resolve()),
  };
  const bindings = {
    PACKS: bucket,
    DB: database,
    REPOSITORY: objects,
    STORAGE_JOBS: queue,
    EVENT_JOBS: queue,
    DELIVERY_JOBS: queue,
    REMOTE_JOBS: queue,
  } as unknown as Partial<Env>;
  return {
    bindings,
    /** An `Outgoing` whose calls are counted and fail as well. */
    outgoingOf: (outgoing: Outgoing): Outgoing =>
      replaced(outgoing, (name, method) => attempt(`outgoing.${name}`, method)),
    /** The calls so far, in order. */
    calls,
    /** Names of the objects that were opened. */
    objectNames,
    /** True once the failing call was made. */
    hasFailed: (): boolean => calls.length > fault.at,
  };
}

const app = createApp(parseConfig({}));

/**
 * Serves a request with other bindings. All `waitUntil` work has ended when the promise resolves.
 */
export async function serveFailing(
  request: Request,
  bindings: Partial<Env>,
): Promise<Response | undefined> {
  const deferred: Promise<unknown>[] = [];
  // As in the runtime, a failure counts as handled from the start, however early it comes.
  const waitUntil = (work: Promise<unknown>) => deferred.push(work.catch(() => undefined));
  const execution = { waitUntil };
  const all = { ...env, ...bindings };
  const response = await app.fetch(request, all, execution as unknown as ExecutionContext);
  const body = await response.arrayBuffer().catch(() => undefined);
  for (let done = 0; done < deferred.length; done = deferred.length) {
    await Promise.allSettled(deferred);
  }
  // The runtime logs a warning if a response of 204 has a body, even an empty one.
  return body && new Response(body.byteLength > 0 ? body : null, response);
}

/** A call may have no effect or lose its answer, and the Worker survives it or dies. */
const MODES: readonly Omit<Fault, "at">[] = [
  { isDone: false, isDeath: false },
  { isDone: false, isDeath: true },
  { isDone: true, isDeath: false },
  { isDone: true, isDeath: true },
];

/** No call fails. */
const NONE: Fault = { at: Number.POSITIVE_INFINITY, isDone: false, isDeath: false };

/** How many faults a usual run takes of a story, besides that of its first call. */
const FAULTS = 2;

/**
 * Faults of the first call, which has no effect, so that nothing is stored, and of a sample of the
 * others, each in another way than the one before.
 */
function faultsOf(count: number): Fault[] {
  const key = expect.getState().currentTestName ?? "";
  const others = Array.from({ length: count - 1 }, (_, at) => at + 1);
  const [way = 0] = sampleOf([...MODES.keys()], 1, `${key}: way`);
  return [
    Object.assign({ at: 0 }, MODES[0] ?? NONE),
    ...sampleOf(others, FAULTS, key).map((at, turn) =>
      Object.assign({ at }, MODES[(way + turn) % MODES.length] ?? NONE),
    ),
  ];
}

/**
 * Runs `story` without a fault, and then with faults: a call fails in one of four ways. A usual run
 * takes a sample of calls; `npm run test:deep` takes each call in each way.
 *
 * The queue consumer is paused: a message of another test would have it do what the story lets
 * fail.
 *
 * @param isLong The story makes hundreds of calls: each of them fails in one way only.
 * @returns The number of calls without a fault.
 */
export const failCalls = (
  story: (fault: Fault) => Promise<{ readonly calls: readonly string[] }>,
  { isLong = false } = {},
): Promise<number> =>
  withoutQueueConsumer(async () => {
    const { length: count } = (await story(NONE)).calls;
    if (TAKES_ALL && !isLong) {
      for (const mode of MODES) {
        // After a failure, a story may make more calls than without one.
        for (let at = 0; (await story({ at, ...mode })).calls.length > at;) at++;
      }
    } else {
      for (const fault of faultsOf(count)) await story(fault);
    }
    // What the stories leave, tests that draw the consequences of all events would wait for.
    await db
      .update(events)
      .set({ dispatchAt: null, consequencesAt: null })
      .where(or(isNotNull(events.dispatchAt), isNotNull(events.consequencesAt)));
    return count;
  });
