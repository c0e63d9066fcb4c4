import { inProject } from "../../scripts/project.ts";
import { migrate, type Database } from "../../scripts/serve/migrate.ts";
import { openRuntime, type LogLine } from "../../scripts/serve/runtime.ts";
import { describeWorker } from "../../scripts/serve/worker.ts";

export type Server = { origin: URL; close: () => Promise<void> };
export type Service = Server & { database: () => Promise<Database> };

/**
 * Starts the service as `npm start` does, on a port that is free.
 *
 * @param data  Directory for its state.
 * @param vars  Settings that differ from wrangler.toml's.
 * @param onLog Given each line of its log.
 */
export async function openService(
  data: string,
  vars: Record<string, string> = {},
  onLog: (line: LogLine) => void = () => {},
): Promise<Service> {
  // The environment is left out: a setting of somebody's shell would change what is measured.
  const runtime = await openRuntime(describeWorker(vars), data, () => {}, onLog);
  const { database, close, listen } = runtime;
  try {
    await migrate(await database(), inProject("migrations"));
    return { origin: await listen("127.0.0.1", 0), database, close };
  } catch (error) {
    await close();
    throw error;
  }
}
