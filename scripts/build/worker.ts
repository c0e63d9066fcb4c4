import { rm } from "node:fs/promises";
import { join } from "node:path";

import { Refusal } from "../refusal.ts";
import { run } from "../tools/run.ts";
import { whenChanged } from "./when-changed.ts";

/** Where {@link buildWorker} leaves the modules of the Worker. */
export const workerDirectory = "dist/worker";

// Anything that changes what the bundler sees; the lock file stands for node_modules.
const sources = [
  "src",
  "dist/templates",
  "dist/languages",
  "wrangler.toml",
  "tsconfig.json",
  "package-lock.json",
];

/**
 * Bundles the Worker as a deployment would. The assets must be there: wrangler counts them.
 *
 * @returns Whether there was anything to do.
 */
export function buildWorker(): Promise<boolean> {
  return whenChanged(workerDirectory, sources, async (directory) => {
    const args = ["deploy", "--dry-run", "--minify", "--outdir", directory];
    const { code, output } = await run("wrangler", args);
    if (code !== 0) throw new Refusal(`the Worker does not build:\n${output.trim()}`);
    await rm(join(directory, "README.md"), { force: true });
  });
}
