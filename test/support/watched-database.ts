import { env } from "cloudflare:workers";

/** Called before a statement is prepared, or a batch is sent. What they throw fails the call. */
interface Watcher {
  onPrepare?: (statement: string) => void;
  onBatch?: () => void;
}

/** The Worker's database, with a watcher of the calls of its sessions. */
export const watchedDatabase = ({ onPrepare, onBatch }: Watcher): D1Database =>
  new Proxy(env.DB, {
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
