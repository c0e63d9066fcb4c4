import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { buildSources } from "./assets.ts";
import { bundleWorker } from "./bundle.ts";
import { whenChanged } from "./when-changed.ts";

/** Set for Wrangler where its build step has nothing to do. */
export const IS_BUILT = "EDGEFORGE_IS_BUILT";

/** The directory into which {@link buildWorker} writes the Worker's modules. */
export const workerDirectory = "dist/worker";

/** What the bundle consists of, by esbuild. */
export const METAFILE = `${workerDirectory}/metafile.json`;

// Everything from which the bundle is built; the lock file stands for node_modules.
const sources = [
  "src",
  "wasm",
  "scripts/build",
  "wrangler.toml",
  "tsconfig.json",
  "package-lock.json",
];

/**
 * Bundles the Worker as a deployment does, and builds its sources (`buildSources`) at the same
 * time.
 *
 * @returns Whether the Worker was built.
 */
export function buildWorker(): Promise<boolean> {
  return whenChanged(workerDirectory, sources, async (directory) => {
    const dist = buildSources();
    const [metafile] = await Promise.all([bundleWorker(directory, dist), dist]);
    await writeFile(join(directory, basename(METAFILE)), JSON.stringify(metafile));
  });
}
