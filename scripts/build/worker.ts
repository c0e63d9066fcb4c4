import { rm } from "node:fs/promises";
import { basename, join } from "node:path";

import { Refusal } from "../refusal.ts";
import { run } from "../tools/run.ts";
import { whenChanged } from "./when-changed.ts";

/** Set for Wrangler where its build step has nothing to do. */
export const IS_BUILT = "EDGEFORGE_IS_BUILT";

/** The directory into which {@link buildWorker} writes the Worker's modules. */
export const workerDirectory = "dist/worker";

/** What the bundle consists of, by esbuild. */
export const METAFILE = `${workerDirectory}/metafile.json`;

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
 * Bundles the Worker as a deployment does. Its sources must be built first (`buildSources`).
 *
 * @returns Whether the Worker was built.
 */
export function buildWorker(): Promise<boolean> {
  return whenChanged(workerDirectory, sources, async (directory) => {
    // Wrangler reads a directory of assets, which is built at the same time as the Worker.
    const assets = ["--assets", "scripts/assets"];
    const metafile = ["--metafile", join(directory, basename(METAFILE))];
    const outputs = ["--outdir", directory, ...metafile];
    // Its build step would build the sources again.
    const env = { [IS_BUILT]: "1" };
    const args = ["deploy", "--dry-run", "--minify", ...assets, ...outputs];
    const { code, output } = await run("wrangler", args, { env });
    if (code !== 0) throw new Refusal(`the Worker does not build:\n${output.trim()}`);
    await rm(join(directory, "README.md"), { force: true });
  });
}
