import { readFileSync } from "node:fs";

import { inProject } from "../project.ts";
import { whenChanged } from "./when-changed.ts";

/**
 * The directories of the local database, bucket and queues, and of the Worker that controls the
 * service.
 */
const SOURCES = "scripts/serve";
const MODULES = [
  "database/binding",
  "database/object",
  "bucket/object",
  "bucket/piece-digests",
  "queue/object",
  "control/worker",
  "keeper/worker",
  "keeper/repositories",
];

/** The directory into which {@link buildLocalBindings} writes. */
const DIRECTORY = "dist/local-bindings";

/** Bundles the modules of the local database, bucket and queues that run in workerd. */
export async function buildLocalBindings(): Promise<void> {
  const sources = [
    `${SOURCES}/database`,
    `${SOURCES}/bucket`,
    `${SOURCES}/queue`,
    `${SOURCES}/control`,
    `${SOURCES}/keeper`,
    "scripts/build/local-bindings.ts",
    "package-lock.json",
  ];
  await whenChanged(DIRECTORY, sources, async (directory) => {
    // Loaded only for a build.
    const { build } = await import("esbuild");
    await build({
      entryPoints: MODULES.map((name) => inProject(`${SOURCES}/${name}.ts`)),
      outdir: directory,
      outbase: inProject(SOURCES),
      bundle: true,
      format: "esm",
      target: "es2024",
      external: ["cloudflare:workers", "node:crypto", "./simulator.js"],
      logLevel: "silent",
    });
  });
}

/** Reads a module that {@link buildLocalBindings} has made. */
export const readLocalModule = (name: string): string =>
  readFileSync(inProject(`${DIRECTORY}/${name}.js`), "utf8");
