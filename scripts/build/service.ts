/**
 * Builds what `npm start` runs, in a process that ends: Wrangler and Miniflare take hundreds of
 * megabytes.
 */
import { runScript } from "../refusal.ts";
import { describeWorker } from "../serve/worker.ts";
import { buildAssets } from "./assets.ts";
import { buildRuntime } from "./runtime.ts";
import { buildWorker } from "./worker.ts";

await runScript(async () => {
  await buildAssets();
  if (await buildWorker()) console.log("built the Worker");
  await buildRuntime(await describeWorker(process.env));
});
