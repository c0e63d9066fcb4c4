import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { inProject } from "../project.ts";
import type { ReadToml } from "../tools/wrangler-toml.ts";
import { whenChanged } from "./when-changed.ts";

const DIRECTORY = "dist/bindings";

/** Variables of a developer, which git ignores. */
const DEV_VARS = ".dev.vars";

/**
 * Reads wrangler.toml as `readWranglerToml` does, with Wrangler loaded only where it has changed:
 * that takes a second and 250 MB.
 */
export async function readBindings(): Promise<ReadToml> {
  const vars = existsSync(inProject(DEV_VARS)) ? [DEV_VARS] : [];
  const sources = ["wrangler.toml", ...vars, "scripts/tools/wrangler-toml.ts", "package-lock.json"];
  await whenChanged(DIRECTORY, sources, async (directory) => {
    const { readWranglerToml } = await import("../tools/wrangler-toml.ts");
    await writeFile(join(directory, "bindings.json"), JSON.stringify(readWranglerToml()));
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written above.
  return JSON.parse(readFileSync(inProject(`${DIRECTORY}/bindings.json`), "utf8")) as ReadToml;
}
