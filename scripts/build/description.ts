import { rm } from "node:fs/promises";
import { join } from "node:path";

import type { Plugin } from "esbuild";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";
import { run } from "../tools/run.ts";

/** The program that writes the interface description. */
const PROGRAM = "scripts/openapi.ts";

/** What decides about the interface description. */
export const descriptionSources = ["src", PROGRAM, "scripts/build/swagger.ts", "package-lock.json"];

/** Leaves imports of dist/templates, dist/languages and the like where they are. */
const WITHOUT_BUILT_FILES: Plugin = {
  name: "without-built-files",
  setup: (build) => {
    build.onResolve({ filter: /^(?:\.\.\/)+dist\// }, ({ path }) => ({ path, external: true }));
  },
};

/**
 * Writes the interface description in both versions into a directory.
 *
 * The program is bundled first: Node takes longer to load the thousand files one by one. What it
 * never loads need not be built: templates, languages and WebAssembly.
 *
 * @throws Refusal with the program's messages.
 */
export async function buildDescription(directory: string): Promise<void> {
  const { build } = await import("esbuild");
  const bundle = join(directory, "openapi.mjs");
  await build({
    entryPoints: [inProject(PROGRAM)],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
    plugins: [WITHOUT_BUILT_FILES],
    loader: { ".wasm": "empty" },
    logLevel: "silent",
  });
  const { code, output } = await run("node", [bundle, directory]);
  await rm(bundle);
  if (code !== 0) throw new Refusal(`the interface description does not build:\n${output.trim()}`);
}
