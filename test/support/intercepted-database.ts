/** A database each of whose calls is made by a function that may do more, or fail. */
export function intercepted(
  d1: D1Database,
  around: (call: () => Promise<unknown>) => Promise<unknown>,
): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const wrapped = (statement: D1PreparedStatement): object => {
    const wrapper = {
      bind: (...values: unknown[]) => wrapped(statement.bind(...values)),
      all: () => around(() => statement.all()),
      raw: () => around(() => statement.raw()),
      run: () => around(() => statement.run()),
    };
    originals.set(wrapper, statement);
    return wrapper;
  };
  return {
    withSession: (bookmark: string) => {
      const session = d1.withSession(bookmark);
      return {
        getBookmark: () => session.getBookmark(),
        prepare: (text: string) => wrapped(session.prepare(text)),
        batch: (list: object[]) =>
          around(() => session.batch(list.map((each) => originals.get(each) as never))),
      };
    },
  } as unknown as D1Database;
}
