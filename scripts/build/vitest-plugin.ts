import { existsSync } from "node:fs";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type * as plugin from "@cloudflare/vitest-plugin";

import { inProject } from "../project.ts";
import "../tools/quiet.ts";
import { PATCHES } from "./plugin-patches.ts";
import { whenChanged } from "./when-changed.ts";

const PACKAGE = "node_modules/@cloudflare/vitest-plugin";
const COPY = "node_modules/.cache/vitest-plugin";

/**
 * Imports a copy of the Vitest plugin with the patches of plugin-patches.ts.
 *
 * @throws Refusal if a patch does not apply to the plugin.
 */
export async function openVitestPlugin(): Promise<typeof plugin> {
  await buildVitestPlugin();
  return await import(pathToFileURL(inProject(`${COPY}/dist/pool/index.mjs`)).href);
}

/**
 * Builds the patched copy of the plugin if needed. Call it before starting concurrent processes
 * that use the copy.
 */
export async function buildVitestPlugin(): Promise<void> {
  const own = ["vitest-plugin", "plugin-patches"].map((name) => `scripts/build/${name}.ts`);
  const sources = [`${PACKAGE}/package.json`, `${PACKAGE}/dist`, ...own];
  await whenChanged(COPY, sources, async (directory) => {
    for (const part of ["package.json", "dist"]) {
      await cp(inProject(`${PACKAGE}/${part}`), join(directory, part), { recursive: true });
    }
    // The plugin's own versions of packages, if npm could not share them.
    const versions = inProject(`${PACKAGE}/node_modules`);
    if (existsSync(versions)) await symlink(versions, join(directory, "node_modules"));
    for (const { module, patch } of PATCHES) {
      const file = join(directory, module);
      await writeFile(file, patch(await readFile(file, "utf8")));
    }
  });
}
