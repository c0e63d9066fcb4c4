/**
 * Builds what `npm start` runs, in a process that ends: Wrangler and Miniflare take hundreds of
 * megabytes.
 *
 * The parts use two cores: the kernel is compiled while this process reads wrangler.toml, and the
 * Worker is bundled while the interface description and the configuration are built.
 */
import { runScript } from "../refusal.ts";
import { describeWorker } from "../serve/worker.ts";
import { buildServedFiles, buildSources } from "./assets.ts";
import { buildConfiguration, buildRuntime } from "./runtime.ts";
import { buildWorker } from "./worker.ts";

await runScript(async () => {
  const [worker] = await Promise.all([describeWorker(process.env), buildSources()]);
  const buildConfigured = async (): Promise<void> => {
    await buildServedFiles();
    await buildConfiguration(worker);
  };
  const [isNew] = await Promise.all([buildWorker(), buildConfigured()]);
  if (isNew) console.log("built the Worker");
  await buildRuntime(worker);
});
