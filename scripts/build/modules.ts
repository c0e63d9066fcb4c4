import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

import { inProject } from "../project.ts";
import { workerDirectory } from "./worker.ts";

const main = "worker.js";

/** The built modules in Miniflare's format. The first is the Worker's entry point. */
export async function builtModules(modulesRoot = inProject(workerDirectory)) {
  const names = await moduleNames(modulesRoot);
  const others = names.filter((name) => name !== main);
  const modules = [main, ...others].map((name) => ({
    type: typeOf(name),
    path: join(modulesRoot, name),
  }));
  return { modulesRoot, modules };
}

/** The files that a deployment uploads: all except source maps and the metafile. */
export async function moduleNames(directory = inProject(workerDirectory)): Promise<string[]> {
  const names = await readdir(directory);
  return names.filter((name) => !/\.(?:map|json)$/.test(name));
}

/** The built modules in the format of workerd's configuration, in the same order. */
export async function configuredModules() {
  const { modules, modulesRoot } = await builtModules();
  return Promise.all(
    modules.map(async ({ type, path }) => {
      const bytes = await readFile(path);
      const isText = type === "ESModule" || type === "Text";
      const content = isText ? bytes.toString() : new Uint8Array(bytes);
      return { name: relative(modulesRoot, path), [CONTENT_FIELDS[type]]: content };
    }),
  );
}

/** The field of workerd's configuration for each type. */
const CONTENT_FIELDS = { ESModule: "esModule", CompiledWasm: "wasm", Data: "data", Text: "text" };

/** Module types by file name, as in wrangler's rules for bundling. */
function typeOf(name: string): keyof typeof CONTENT_FIELDS {
  if (name.endsWith(".js")) return "ESModule";
  if (name.endsWith(".wasm")) return "CompiledWasm";
  return name.endsWith(".bin") ? "Data" : "Text";
}
