/**
 * `npm start`: runs Edgeforge on one machine.
 *
 * The same Worker and the same wrangler.toml as on Cloudflare, in workerd, with its state in
 * files. The service accepts requests only once the schema is current; `listening on` is the last
 * line of a start.
 */
import { readdirSync } from "node:fs";

import { inProject } from "./project.ts";
import { Refusal, runScript } from "./refusal.ts";
import { createFirstAdministrator, type FirstAdministrator } from "./serve/first-administrator.ts";
import { describeAdministrator, greeting, rootUrlHint } from "./serve/greeting.ts";
import { takeLock } from "./serve/lock.ts";
import { migrate } from "./serve/migrate.ts";
import { refuseTakenPort } from "./serve/port.ts";
import { openRuntime, type Runtime } from "./serve/runtime.ts";
import { startSchedule } from "./serve/schedule.ts";
import { describeSettings, parseSettings, type Settings } from "./serve/settings.ts";
import { markStopped, takeStopped } from "./serve/stopped.ts";
import { withStoredSecrets } from "./serve/stored-secrets.ts";
import { onStopSignal } from "./serve/signals.ts";
import { describeVars, overlayVars, refuseInvalidVars } from "./serve/vars.ts";
import { describeWorker, LOCAL_VARS } from "./serve/worker.ts";
import { show } from "./tools/run.ts";

let runtime: Runtime | undefined;
let stopSchedule = (): void => {};
let onStopped = (): void => {};

onStopSignal(() => void stop());

await runScript(async () => {
  try {
    await start();
  } catch (error) {
    await runtime?.close();
    throw error;
  }
});

async function start(): Promise<void> {
  const { host, port, processes, data } = parseSettings(process.env);
  refuseInvalidVars(overlayVars(LOCAL_VARS, process.env));
  const lock = await takeLock(data);
  process.once("exit", () => lock.release());
  await refuseTakenPort(host, port);

  const build = ["--import", "./scripts/node-version.js", "scripts/build/service.ts"];
  if ((await show("node", build)) !== 0) throw new Refusal("the service does not build");
  const worker = await describeWorker(process.env);
  const { administrator } = parseSettings(process.env, worker.vars);
  const vars = withStoredSecrets(worker.vars, data);
  refuseInvalidVars(vars);

  const onSpawn = (pid: number): void => lock.setRuntime(pid);
  runtime = await openRuntime({ ...worker, vars }, data, { processes, onSpawn });
  const schema = readdirSync(inProject("migrations")).toSorted().join(" ");
  // Otherwise the schema is current, an administrator exists, and no job has a lease.
  const created = takeStopped(data, schema) ? undefined : await prepare(runtime, administrator);
  const { listen, fire } = runtime;
  // Another process may have taken the port in the meantime.
  await refuseTakenPort(host, port);
  const url = await listen(host, port);
  stopSchedule = startSchedule(worker.crons, fire);
  onStopped = () => markStopped(data, schema);

  const settings = [...describeSettings(process.env), ...describeVars(worker.vars, LOCAL_VARS)];
  for (const line of settings) console.log(line);
  for (const line of rootUrlHint(url, worker.vars["ROOT_URL"])) console.log(line);
  for (const line of greeting(url, administrator.name, created)) console.log(line);
  console.log(`listening on ${url.origin}`);
}

/**
 * Brings the state to where a start may listen: after the first one, a new version, and one that
 * was killed.
 */
async function prepare(
  { startPrivately, database, setup }: Runtime,
  administrator: Settings["administrator"],
): Promise<FirstAdministrator | undefined> {
  await startPrivately();
  const applied = await migrate(database, inProject("migrations"));
  if (applied.length > 0) console.log(`applied migrations: ${applied.join(", ")}`);
  const created = await createFirstAdministrator(setup, administrator);
  if (created) console.log(describeAdministrator(created));
  // The lock excludes another process: what has a lease now, a killed one has left.
  await setup.releaseLeases();
  return created;
}

async function stop(): Promise<void> {
  stopSchedule();
  if (await runtime?.close()) onStopped();
  process.exit(0);
}
