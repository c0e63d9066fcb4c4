/**
 * Builds what `npm start` runs, in a process that ends: the bundler and Miniflare take hundreds of
 * megabytes.
 *
 * The parts use two cores: the Worker is bundled while the kernel is compiled, and the interface
 * description and the configuration are built.
 */
import { runScript } from "../refusal.ts";
import { describeWorker, type WorkerDescription } from "../serve/worker.ts";
import { buildServedFiles } from "./assets.ts";
import { buildConfiguration, buildRuntime } from "./runtime.ts";
import { buildWorker } from "./worker.ts";

await runScript(async () => {
  const buildConfigured = async (): Promise<WorkerDescription> => {
    const worker = await describeWorker(process.env);
    await buildServedFiles();
    await buildConfiguration(worker);
    return worker;
  };
  const [isNew, worker] = await Promise.all([buildWorker(), buildConfigured()]);
  if (isNew) console.log("built the Worker");
  await buildRuntime(worker);
});
