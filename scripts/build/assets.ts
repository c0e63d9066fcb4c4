import { copyFile, cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";

import { inProject } from "../project.ts";
import { reasonOf, Refusal } from "../refusal.ts";
import { buildDescription, descriptionSources } from "./description.ts";
import { buildDocuments, documentSources } from "./documents.ts";
import { buildKernel } from "./kernel.ts";
import { buildHashes } from "./hashes.ts";
import { buildLanguages } from "./languages.ts";
import { buildPageFiles, pageFilesDirectory } from "./page-files.ts";
import { buildTemplates } from "./templates.ts";
import { whenChanged } from "./when-changed.ts";

const viewer = "node_modules/openapi-explorer/dist/browser";

/**
 * The files that the Worker's ASSETS binding serves besides the interface description and what
 * pages load, with the source of each.
 */
const files: Record<string, string> = {
  "-/swagger/index.html": "scripts/assets/index.html",
  "-/swagger/start.js": "scripts/assets/start.js",
  "-/swagger/viewer.css": "scripts/assets/viewer.css",
  "-/swagger/openapi-explorer.min.js": `${viewer}/openapi-explorer.min.js`,
};

/**
 * Builds dist/assets, as `buildServedFiles` does, and the Worker's sources, as `buildSources` does.
 *
 * @returns Whether dist/assets was built anew.
 */
export async function buildAssets(): Promise<boolean> {
  const [isNew] = await Promise.all([buildServedFiles(), buildSources()]);
  return isNew;
}

/**
 * Builds the Worker's sources that packages contain in other forms: dist/templates, dist/languages,
 * dist/wasm and dist/hashes; and dist/pages.
 */
export async function buildSources(): Promise<void> {
  await refusing(async () => {
    // The compiler of the kernel is a process of its own.
    await Promise.all([
      buildKernel(),
      buildTemplates(),
      buildLanguages(),
      buildHashes(),
      buildPageFiles(),
    ]);
  });
}

/**
 * Builds dist/assets: the interface description in both versions, its viewer, the documents, and
 * what pages load.
 *
 * @returns Whether dist/assets was built anew.
 */
export async function buildServedFiles(): Promise<boolean> {
  return refusing(async () => {
    await buildPageFiles();
    const sources = [
      ...Object.values(files),
      ...documentSources,
      pageFilesDirectory,
      ...descriptionSources,
    ];
    return whenChanged("dist/assets", sources, async (directory) => {
      for (const [name, source] of Object.entries(files)) {
        const target = join(directory, name);
        await mkdir(dirname(target), { recursive: true });
        await copyFile(inProject(source), target);
      }
      await cp(inProject(pageFilesDirectory), join(directory, "-/pages"), { recursive: true });
      await buildDocuments(join(directory, "-/docs"));
      await buildDescription(directory);
    });
  });
}

async function refusing<Result>(build: () => Promise<Result>): Promise<Result> {
  try {
    return await build();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`the assets cannot be built: ${reasonOf(error)}`);
  }
}
