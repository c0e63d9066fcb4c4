/** Which call fails, of all calls of the databases that share this, and whether it was done. */
export interface Faults {
  at: number;
  isDone: boolean;
  calls: number;
}

/** A database of which one call fails, counted together with those of others. */
export const failing = (d1: D1Database, faults: Faults): D1Database =>
  intercepted(d1, async (call) => {
    if (faults.calls++ !== faults.at) return call();
    if (faults.isDone) await call();
    throw new Error("no answer");
  });

/** A database whose calls are made by `attempt`. */
export function intercepted(
  d1: D1Database,
  attempt: (call: () => Promise<unknown>) => Promise<unknown>,
): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const wrapped = (statement: D1PreparedStatement): object => {
    const wrapper = {
      bind: (...values: unknown[]) => wrapped(statement.bind(...values)),
      all: () => attempt(() => statement.all()),
      raw: () => attempt(() => statement.raw()),
      run: () => attempt(() => statement.run()),
    };
    originals.set(wrapper, statement);
    return wrapper;
  };
  return {
    withSession: (bookmark: string) => {
      const session = d1.withSession(bookmark);
      return {
        prepare: (text: string) => wrapped(session.prepare(text)),
        batch: (list: object[]) =>
          attempt(() => session.batch(list.map((each) => originals.get(each) as never))),
      };
    },
  } as unknown as D1Database;
}
