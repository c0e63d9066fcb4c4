import { AsyncLocalStorage } from "node:async_hooks";

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
}

/** The requests that are counted. Work of others, as of queue consumers, runs at the same time and counts for none. */
const counted = new AsyncLocalStorage<Work>();

const note = (kind: keyof Work): void => {
  const work = counted.getStore();
  if (work) work[kind] += 1;
};

/** Counts what the service does for the requests that `send` sends. */
export async function countWork<Result>(
  send: () => Promise<Result>,
): Promise<{ result: Result; work: Work }> {
  const work: Work = {
    responses: 0,
    headerLists: 0,
    headerWrites: 0,
    urls: 0,
    digests: 0,
    deferred: 0,
    logLines: 0,
  };
  const restore = [
    replace(globalThis, "Response", (own) => countingClass(own, "responses")),
    replace(globalThis, "Headers", (own) => countingClass(own, "headerLists")),
    replace(globalThis, "URL", (own) => countingClass(own, "urls")),
    replace(Headers.prototype, "set", (own) => counting(own, "headerWrites")),
    replace(Headers.prototype, "append", (own) => counting(own, "headerWrites")),
    replace(Headers.prototype, "delete", (own) => counting(own, "headerWrites")),
    replace(Object.getPrototypeOf(crypto.subtle) as SubtleCrypto, "digest", (own) =>
      counting(own, "digests"),
    ),
    replace(console, "log", (own) => counting(own, "logLines")),
    replace(worker, "fetch", (own) => (request, env, execution) => {
      const waitUntil = (promise: Promise<unknown>): void => {
        note("deferred");
        execution.waitUntil(promise);
      };
      return counted.run(work, () => own(request, env, { ...execution, waitUntil }));
    }),
  ];
  try {
    return { result: await send(), work };
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

const counting = <Method extends (...args: never[]) => unknown>(
  own: Method,
  kind: keyof Work,
): Method =>
  new Proxy(own, {
    apply: (target, self, args) => {
      note(kind);
      return Reflect.apply(target, self, args) as unknown;
    },
  });
