// Writes openapi.json from the routes in src/api; with --check, fails if the file differs.
import { readFile, writeFile } from "node:fs/promises";

import { describeApi } from "../src/api/document.ts";

const FILE = new URL("../openapi.json", import.meta.url);
const fresh = `${JSON.stringify(describeApi(), null, 2)}\n`;

if (process.argv.includes("--check")) {
  const stored = await readFile(FILE, "utf8").catch(() => "");
  if (stored !== fresh) {
    console.error("openapi.json is out of date: run npm run generate");
    process.exitCode = 1;
  }
} else {
  await writeFile(FILE, fresh);
}
