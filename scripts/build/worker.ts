import { rm } from "node:fs/promises";
import { join } from "node:path";

import { Refusal } from "../refusal.ts";
import { run } from "../tools/run.ts";
import { whenChanged } from "./when-changed.ts";

/** The directory into which {@link buildWorker} writes the Worker's modules. */
export const workerDirectory = "dist/worker";

// Everything that the bundler reads; the lock file stands for node_modules.
const sources = [
  "src",
  "dist/templates",
  "dist/languages",
  "dist/wasm",
  "dist/hashes",
  "wrangler.toml",
  "tsconfig.json",
  "package-lock.json",
];

/**
 * Bundles the Worker as a deployment does. The assets must be built first, since they are among the
 * sources.
 *
 * @returns Whether the Worker was built.
 */
export function buildWorker(): Promise<boolean> {
  return whenChanged(workerDirectory, sources, async (directory) => {
    const args = ["deploy", "--dry-run", "--minify", "--outdir", directory];
    const { code, output } = await run("wrangler", args);
    if (code !== 0) throw new Refusal(`the Worker does not build:\n${output.trim()}`);
    await rm(join(directory, "README.md"), { force: true });
  });
}
