import { env } from "cloudflare:workers";

import { shardBindings } from "./shards/shard-bindings.ts";

/** Called before a statement is prepared, or a batch is sent. What they throw fails the call. */
interface Watcher {
  onPrepare?: (statement: string) => void;
  onBatch?: () => void;
}

/** A database of the Worker, by default the first one, with a watcher of the calls of its sessions. */
export const watchedDatabase = (
  { onPrepare, onBatch }: Watcher,
  d1: D1Database = env.DB,
): D1Database =>
  new Proxy(d1, {
    get(target, name) {
      if (name !== "withSession") return Reflect.get(target, name);
      return (bookmark: string) => {
        const session = target.withSession(bookmark);
        return {
          getBookmark: () => session.getBookmark(),
          prepare: (statement: string) => {
            onPrepare?.(statement);
            return session.prepare(statement);
          },
          batch: (statements: D1PreparedStatement[]) => {
            onBatch?.();
            return session.batch(statements);
          },
        };
      };
    },
  });

/** Bindings of the Worker's databases, that of each shard as well, with one watcher. */
export const watchedDatabases = (watcher: Watcher): { DB: D1Database } => ({
  DB: watchedDatabase(watcher),
  ...Object.fromEntries(
    Object.entries(shardBindings()).map(([name, d1]) => [name, watchedDatabase(watcher, d1)]),
  ),
});
