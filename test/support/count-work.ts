import { AsyncLocalStorage } from "node:async_hooks";

import { SQLiteD1Session } from "drizzle-orm/d1";

import { openBuilder } from "../../src/db/db.ts";
import worker from "../../src/worker.ts";

/** What the service makes and does for one request, until its response is returned. */
export interface Work {
  /** Responses made: each copy of a response counts. */
  responses: number;
  /** Lists of headers made, besides those of responses. */
  headerLists: number;
  /** Headers that were set, added or removed one by one. */
  headerWrites: number;
  /** URLs parsed. */
  urls: number;
  /** Hashes computed by the platform. */
  digests: number;
  /** Work that goes on after the response. */
  deferred: number;
  /** Lines of the log. */
  logLines: number;
  /** Queries whose SQL is built anew: prepared ones are built by the isolate's first call, and count for none. */
  sqlBuilds: number;
}

/** The requests that are counted. Work of others, as of queue consumers, runs at the same time and counts for none. */
const counted = new AsyncLocalStorage<Work>();

const note = (kind: keyof Work): void => {
  const work = counted.getStore();
  if (work) work[kind] += 1;
};

/** The session of the queries that are prepared. */
const { session: builder } = openBuilder() as unknown as { session: object };

/** Counts what the service does for the requests that `send` sends to the Worker. */
export async function countWork<Result>(
  send: () => Promise<Result>,
): Promise<{ result: Result; work: Work }> {
  return counting(send, (work) => [
    replace(worker, "fetch", (own) => (request, env, execution) => {
      const waitUntil = (promise: Promise<unknown>): void => {
        note("deferred");
        execution.waitUntil(promise);
      };
      return counted.run(work, () => own(request, env, { ...execution, waitUntil }));
    }),
  ]);
}

/** Counts all that `run` does: a job, rather than a request. */
export const countJob = async (run: () => Promise<void>): Promise<Work> =>
  (await counting((work) => counted.run(work, run))).work;

/** @param watch Replaces what the requests of the service come through. */
async function counting<Result>(
  run: (work: Work) => Promise<Result>,
  watch: (work: Work) => (() => void)[] = () => [],
): Promise<{ result: Result; work: Work }> {
  const work: Work = {
    responses: 0,
    headerLists: 0,
    headerWrites: 0,
    urls: 0,
    digests: 0,
    deferred: 0,
    logLines: 0,
    sqlBuilds: 0,
  };
  const restore = [
    replace(globalThis, "Response", (own) => countingClass(own, "responses")),
    replace(globalThis, "Headers", (own) => countingClass(own, "headerLists")),
    replace(globalThis, "URL", (own) => countingClass(own, "urls")),
    replace(Headers.prototype, "set", (own) => countingCalls(own, "headerWrites")),
    replace(Headers.prototype, "append", (own) => countingCalls(own, "headerWrites")),
    replace(Headers.prototype, "delete", (own) => countingCalls(own, "headerWrites")),
    replace(Object.getPrototypeOf(crypto.subtle) as SubtleCrypto, "digest", (own) =>
      countingCalls(own, "digests"),
    ),
    replace(console, "log", (own) => countingCalls(own, "logLines")),
    replace(
      SQLiteD1Session.prototype,
      "prepareQuery",
      (own) =>
        function prepareQuery(this: object, ...args: Parameters<typeof own>) {
          if (this !== builder) note("sqlBuilds");
          return own.apply(this as never, args);
        },
    ),
    ...watch(work),
  ];
  try {
    return { result: await run(work), work };
  } finally {
    for (const undo of restore.toReversed()) undo();
  }
}

/** Replaces a member of an object. @returns A function that puts it back. */
function replace<Target extends object, Name extends keyof Target>(
  target: Target,
  name: Name,
  by: (own: Target[Name]) => Target[Name],
): () => void {
  const own = target[name];
  target[name] = by(own);
  return () => {
    target[name] = own;
  };
}

const countingClass = <Class extends abstract new (...args: never[]) => object>(
  own: Class,
  kind: keyof Work,
): Class =>
  new Proxy(own, {
    construct: (target, args, newTarget) => {
      note(kind);
      return Reflect.construct(target, args, newTarget) as object;
    },
  });

const countingCalls = <Method extends (...args: never[]) => unknown>(
  own: Method,
  kind: keyof Work,
): Method =>
  new Proxy(own, {
    apply: (target, self, args) => {
      note(kind);
      return Reflect.apply(target, self, args) as unknown;
    },
  });
