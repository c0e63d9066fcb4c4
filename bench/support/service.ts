import { buildRuntime } from "../../scripts/build/runtime.ts";
import { inProject } from "../../scripts/project.ts";
import { createFirstAdministrator } from "../../scripts/serve/first-administrator.ts";
import { migrate, type Database } from "../../scripts/serve/migrate.ts";
import { openRuntime } from "../../scripts/serve/runtime.ts";
import type { LogLine } from "../../scripts/serve/workerd.ts";
import { startSchedule } from "../../scripts/serve/schedule.ts";
import type { Settings } from "../../scripts/serve/settings.ts";
import { type BindingServers, describeWorker } from "../../scripts/serve/worker.ts";

export type Server = { origin: URL; close: () => Promise<void> };
export type Service = Server & {
  database: () => Promise<Database>;
  /** Fires the cron triggers from now on, as `npm start` does: they repeat jobs that failed. */
  startSchedule: () => void;
  /** Process id of workerd. */
  pid: () => number;
};

type ServiceOptions = {
  /** Settings that differ from wrangler.toml's. */
  vars?: Record<string, string>;
  /** Called with each line of its log. */
  onLog?: (line: LogLine) => void;
  /** An administrator to create; without it, the service has no accounts. */
  administrator?: Settings["administrator"];
  /** What serves the interfaces of D1 and R2, where not what `npm start` has. */
  servers?: BindingServers;
};

/**
 * Starts the service as `npm start` does, on a free port.
 *
 * @param data Directory for its state.
 */
export async function openService(
  data: string,
  { vars = {}, onLog = () => {}, administrator, servers }: ServiceOptions = {},
): Promise<Service> {
  let pid = 0;
  // Without the process's environment: settings of the user's shell would change the results.
  const described = await describeWorker({}, servers);
  const variables = [...new Set([...described.variables, ...Object.keys(vars)])].toSorted();
  const worker = { ...described, variables, vars: { ...described.vars, ...vars } };
  await buildRuntime(worker);
  const runtime = await openRuntime(worker, data, {
    processes: 1,
    onSpawn: (spawned) => (pid = spawned),
    onLog,
  });
  const { startPrivately, database, listen, setup, fire } = runtime;
  let stopSchedule = (): void => {};
  const close = async (): Promise<void> => {
    stopSchedule();
    await runtime.close();
  };
  try {
    await startPrivately();
    await migrate(database, inProject("migrations"));
    if (administrator) await createFirstAdministrator(setup, administrator);
    const origin = await listen("127.0.0.1", 0);
    const schedule = (): void => {
      stopSchedule = startSchedule(worker.crons, fire);
    };
    return {
      origin,
      database: async () => database,
      startSchedule: schedule,
      close,
      pid: () => pid,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
