/**
 * `npm start`: runs Edgeforge on one machine.
 *
 * The same Worker and the same wrangler.toml as on Cloudflare, in workerd, with its state in files.
 * The service accepts requests only once the schema is current; `listening on` is the last line of a start.
 */
import { buildAssets } from "./build/assets.ts";
import { buildWorker } from "./build/worker.ts";
import { inProject } from "./project.ts";
import { runScript } from "./refusal.ts";
import { createFirstAdministrator } from "./serve/first-administrator.ts";
import { describeAdministrator, greeting, rootUrlHint } from "./serve/greeting.ts";
import { takeLock } from "./serve/lock.ts";
import { migrate } from "./serve/migrate.ts";
import { refuseTakenPort } from "./serve/port.ts";
import { openRuntime, type Runtime } from "./serve/runtime.ts";
import { startSchedule } from "./serve/schedule.ts";
import { describeSettings, parseSettings } from "./serve/settings.ts";
import { withStoredSecrets } from "./serve/stored-secrets.ts";
import { onStopSignal } from "./serve/signals.ts";
import { describeVars, refuseInvalidVars } from "./serve/vars.ts";
import { describeWorker, LOCAL_VARS } from "./serve/worker.ts";

let runtime: Runtime | undefined;
let stopSchedule = (): void => {};

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
  const worker = describeWorker(process.env);
  const { host, port, data, administrator } = parseSettings(process.env, worker.vars);
  refuseInvalidVars(worker.vars);

  const lock = takeLock(data);
  process.once("exit", () => lock.release());
  await refuseTakenPort(host, port);

  await buildAssets();
  if (await buildWorker()) console.log("built the Worker");

  const vars = withStoredSecrets(worker.vars, data);
  refuseInvalidVars(vars);
  runtime = await openRuntime({ ...worker, vars }, data, (pid) => lock.setRuntime(pid));
  const applied = await migrate(await runtime.database(), inProject("migrations"));
  if (applied.length > 0) console.log(`applied migrations: ${applied.join(", ")}`);
  const setup = await runtime.setup();
  const administratorCreated = await createFirstAdministrator(setup, administrator);
  if (administratorCreated) console.log(describeAdministrator(administratorCreated));
  // The lock excludes another process: what has a lease now, a killed one has left.
  await setup.releaseLeases();

  const { listen, fire } = runtime;
  const url = await listen(host, port).catch(async (error: unknown) => {
    // Another process may have taken the port in the meantime.
    await refuseTakenPort(host, port);
    throw error;
  });
  stopSchedule = startSchedule(worker.crons, fire);

  const settings = [...describeSettings(process.env), ...describeVars(worker.vars, LOCAL_VARS)];
  for (const line of settings) console.log(line);
  for (const line of rootUrlHint(url, worker.vars["ROOT_URL"])) console.log(line);
  for (const line of greeting(url, administrator.name, administratorCreated)) console.log(line);
  console.log(`listening on ${url.origin}`);
}

async function stop(): Promise<void> {
  stopSchedule();
  await runtime?.close();
  process.exit(0);
}
