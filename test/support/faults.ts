import { env } from "cloudflare:workers";

/** How storage fails: at which call, whether that call is carried out all the same, and what comes after. */
export interface Fault {
  /** From 0. */
  at: number;
  /** The call is carried out, and its answer is lost. */
  isDone: boolean;
  /** The Worker dies: no later call is made. */
  isDeath: boolean;
}

type Call = (...args: unknown[]) => unknown;

/**
 * The bindings of the Worker, one of whose calls fails. Queue messages are counted, not sent.
 *
 * A call is whatever leaves the Worker: to D1 as a batch, to the bucket, to an object, to the queue.
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
        // Stubs of objects have no methods of their own: theirs take no `apply`.
        const method: Call = (...args) => (target as Record<string, Call>)[String(key)]?.(...args);
        return replace(String(key), method);
      },
    });

  const bucket = replaced(env.PACKS, (name, method) =>
    attempt(`bucket.${name}`, async (...args) => {
      const result = await method(...args);
      if (name !== "createMultipartUpload") return result;
      return replaced(result as object, (part, call) => attempt(`upload.${part}`, call));
    }),
  );
  const database = replaced(env.DB, (name, method) => (...args) => {
    const result = method(...args);
    if (name !== "withSession") return result;
    return replaced(result as object, (part, call) =>
      part === "batch" ? attempt("d1.batch", call) : call,
    );
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
  } as unknown as Partial<Env>;
  return {
    bindings,
    /** What was called so far, in order. */
    calls,
    /** Objects that were asked for. */
    objectNames,
    /** True once the call that was to fail was made. */
    hasFailed: (): boolean => calls.length > fault.at,
  };
}
