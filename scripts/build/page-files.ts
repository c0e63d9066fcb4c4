import { readdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { inProject } from "../project.ts";
import { whenChanged } from "./when-changed.ts";

const pages = "src/web/pages";
const scripts = `${pages}/scripts`;
/** Loads what it needs on demand, in files of its own: the languages of the editor. */
const editor = "editor.ts";
const others = ["style.css", "favicon.svg", "icons.svg"].map((name) => `${pages}/${name}`);

/** What scripts share with the Worker. */
const shared = ["src/lib/path-score.ts"];

/** What pages load, in a directory that `buildPageFiles` builds. */
export const pageFilesDirectory = "dist/pages/files";

let building: Promise<unknown> | undefined;

/**
 * Builds dist/pages: the style sheet, pictures and scripts of pages, minified, under names with a
 * hash of their content, and the names by those of their sources for the Worker. Each module in
 * src/web/pages/scripts is a script with what it imports.
 *
 * The first call of a process builds, for the Worker and for the served files.
 */
export async function buildPageFiles(): Promise<void> {
  const own = "scripts/build/page-files.ts";
  const sources = [...others, scripts, ...shared, own, "package-lock.json"];
  building ??= whenChanged("dist/pages", sources, async (directory) => {
    const names = await bundle(join(directory, basename(pageFilesDirectory)));
    await writeFile(join(directory, "names.json"), JSON.stringify(names));
  });
  await building;
}

/** Builds the files, and returns their names by those of their sources. */
async function bundle(directory: string): Promise<Record<string, string>> {
  // Loaded only for a build.
  const { build } = await import("esbuild");
  const modules = await readdir(inProject(scripts));
  const options = {
    absWorkingDir: inProject(""),
    outdir: directory,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    metafile: true,
    format: "esm",
    target: "es2023",
    loader: { ".svg": "copy" },
    logLevel: "silent",
  } as const;
  const single = modules.filter((name) => name.endsWith(".ts") && name !== editor);
  const built = await Promise.all([
    build({ ...options, entryPoints: [...others, ...single.map((name) => `${scripts}/${name}`)] }),
    build({ ...options, entryPoints: [`${scripts}/${editor}`], splitting: true }),
  ]);
  return Object.fromEntries(
    built
      .flatMap(({ metafile }) => Object.entries(metafile.outputs))
      .filter(([, { entryPoint = "" }]) => entryPoint.startsWith(pages))
      .map(([path, { entryPoint = "" }]) => [basename(entryPoint), basename(path)]),
  );
}
