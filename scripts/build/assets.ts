import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { inProject } from "../project.ts";
import { reasonOf, Refusal } from "../refusal.ts";
import { buildKernel } from "./kernel.ts";
import { buildHashes } from "./hashes.ts";
import { buildLanguages } from "./languages.ts";
import { toSwagger } from "./swagger.ts";
import { buildTemplates } from "./templates.ts";
import { whenChanged } from "./when-changed.ts";

const viewer = "node_modules/swagger-ui-dist";
const description = "openapi.json";

/** The files that the Worker's ASSETS binding serves, with the source of each. */
const files: Record<string, string> = {
  "openapi.json": description,
  "-/swagger/index.html": "scripts/assets/index.html",
  "-/swagger/start.js": "scripts/assets/start.js",
  "-/swagger/swagger-ui.css": `${viewer}/swagger-ui.css`,
  "-/swagger/swagger-ui-bundle.js": `${viewer}/swagger-ui-bundle.js`,
  "-/swagger/favicon-32x32.png": `${viewer}/favicon-32x32.png`,
  "-/pages/style.css": "src/web/pages/style.css",
  "-/pages/security-key.js": "src/web/pages/security-key.js",
};

/**
 * Builds dist/assets (the interface description in both versions, and its viewer), and
 * dist/templates, dist/languages, dist/wasm and dist/hashes.
 *
 * @returns Whether dist/assets was built anew.
 */
export async function buildAssets(): Promise<boolean> {
  try {
    await buildTemplates();
    await buildLanguages();
    await buildKernel();
    await buildHashes();
    const sources = [...Object.values(files), "scripts/build/swagger.ts"];
    return await whenChanged("dist/assets", sources, async (directory) => {
      for (const [name, source] of Object.entries(files)) {
        const target = join(directory, name);
        await mkdir(dirname(target), { recursive: true });
        await copyFile(inProject(source), target);
      }
      const swagger = toSwagger(JSON.parse(await readFile(inProject(description), "utf8")));
      await writeFile(join(directory, "swagger.v1.json"), JSON.stringify(swagger));
    });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`the assets cannot be built: ${reasonOf(error)}`);
  }
}
