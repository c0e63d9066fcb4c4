import { AsyncLocalStorage } from "node:async_hooks";

import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { SQLiteD1Session } from "drizzle-orm/d1";

import { openBuilder } from "../../src/db/db.ts";
import { serving } from "./call.ts";
import { d1Senders } from "./d1-senders.ts";
import { endKept } from "./usage.ts";

/**
 * What the service makes and does for one request or job, with the work that goes on after the
 * response.
 */
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
  /**
   * Queries whose SQL is built anew: prepared ones are built by the isolate's first call, and count
   * for none.
   */
  sqlBuilds: number;
  /** Calls of D1; a batch is one. */
  d1Calls: number;
  /** Calls of the bucket, besides the parts of an upload. */
  r2Calls: number;
  /** Calls of repositories' objects. */
  objectCalls: number;
  /** Calls that send messages to queues. */
  queueCalls: number;
}

/** The kinds of work, in the order of their record. */
export const KINDS = [
  "responses",
  "headerLists",
  "headerWrites",
  "urls",
  "digests",
  "deferred",
  "logLines",
  "sqlBuilds",
  "d1Calls",
  "r2Calls",
  "objectCalls",
  "queueCalls",
] as const satisfies readonly (keyof Work)[];

/** The kinds that test/work.json bounds: round trips, and SQL that is not prepared. */
export const BOUNDED = [
  "sqlBuilds",
  "d1Calls",
  "r2Calls",
  "objectCalls",
  "queueCalls",
] as const satisfies readonly (keyof Work)[];

/** What is counted of a request or job. */
interface Counted {
  readonly work: Work;
  /** The statements that were prepared for D1, in their order. */
  readonly statements: string[];
}

/**
 * What is counted at present. Work of others, as of queue consumers, runs at the same time and
 * counts for none.
 */
const counted = new AsyncLocalStorage<Counted>();

const note = (kind: keyof Work): void => {
  const found = counted.getStore();
  if (found) found.work[kind] += 1;
};

/** The session of the queries that are prepared. */
const { session: builder } = openBuilder() as unknown as { session: object };

const BUCKET_METHODS = ["get", "put", "head", "list", "delete", "createMultipartUpload"] as const;

/**
 * Counts what the service does for the requests that `send` sends, until their deferred work has
 * ended.
 */
export const countWork = <Result>(
  send: () => Promise<Result>,
): Promise<Counted & { result: Result }> =>
  counting(send, (each) => [
    replace(serving, "run", (own) => (serve) => counted.run(each, () => own(serve))),
  ]);

/** Counts all that `run` does: a job, rather than a request. */
export const countJob = async (run: () => Promise<unknown>): Promise<Work> =>
  (await counting((each) => counted.run(each, run))).work;

/** @param watch Replaces what the requests of the service come through. */
async function counting<Result>(
  run: (each: Counted) => Promise<Result>,
  watch: (each: Counted) => (() => void)[] = () => [],
): Promise<Counted & { result: Result }> {
  const work = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as unknown as Work;
  const own: Counted = { work, statements: [] };
  const deferred: Promise<unknown>[] = [];
  await endKept();
  const restore = [...replaceMakers(), ...replaceBindings(), ...watch(own)];
  restore.push(
    replace(
      Object.getPrototypeOf(createExecutionContext()) as ExecutionContext,
      "waitUntil",
      (original) =>
        function waitUntil(this: ExecutionContext, promise: Promise<unknown>) {
          if (counted.getStore() === own) {
            work.deferred += 1;
            deferred.push(promise);
          }
          original.call(this, promise);
        },
    ),
  );
  try {
    const result = await run(own);
    // Deferred work may defer more work.
    for (const promise of deferred) await promise.catch(() => undefined);
    return { result, ...own };
  } finally {
    for (const undo of restore.toReversed()) undo();
  }
}

/** Counts what is made in the isolate. */
const replaceMakers = (): (() => void)[] => [
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
];

/** Counts calls of what the Worker is bound to. */
function replaceBindings(): (() => void)[] {
  const { session, names } = d1Senders();
  const bucket = Object.getPrototypeOf(env.PACKS) as R2Bucket;
  const queue = Object.getPrototypeOf(env.EVENT_JOBS) as Queue<object>;
  const objects = Object.getPrototypeOf(env.REPOSITORY) as typeof env.REPOSITORY;
  return [
    replace(
      session,
      "prepare",
      (own) =>
        function prepare(this: unknown, ...args: unknown[]) {
          counted.getStore()?.statements.push(String(args[0]));
          return own.apply(this, args);
        },
    ),
    ...names.map((name) => replace(session, name, (own) => countingCalls(own as never, "d1Calls"))),
    ...BUCKET_METHODS.map((name) =>
      replace(bucket, name, (own) => countingCalls(own as never, "r2Calls")),
    ),
    replace(queue, "send", (own) => countingCalls(own, "queueCalls")),
    replace(queue, "sendBatch", (own) => countingCalls(own, "queueCalls")),
    replace(
      objects,
      "getByName",
      (own) =>
        function getByName(this: typeof objects, ...args: Parameters<typeof own>) {
          return countingStub(own.apply(this, args));
        },
    ),
  ];
}

/** The stub of an object whose calls are counted. */
const countingStub = <Stub extends object>(stub: Stub): Stub =>
  new Proxy(stub, {
    get: (_, key) => {
      const value: unknown = Reflect.get(stub, key, stub);
      if (typeof value !== "function") return value;
      // The methods of stubs are proxies without `apply`.
      return (...args: unknown[]) => {
        note("objectCalls");
        return (stub as Record<string, (...given: unknown[]) => unknown>)[String(key)]?.(...args);
      };
    },
  });

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
