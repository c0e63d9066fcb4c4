/**
 * `npm run check`: all checks except the tests. `npm run check -- <name>…` runs only the named
 * checks.
 *
 * All checks run even if one fails, so that one run shows every fault.
 */
import { buildAssets } from "./build/assets.ts";
import { access } from "./check/access.ts";
import { bundleSize } from "./check/bundle-size.ts";
import type { Check } from "./check/check.ts";
import { documents } from "./check/documents.ts";
import { folderCycles } from "./check/folder-cycles.ts";
import { exportNames } from "./check/export-names.ts";
import { format } from "./check/format.ts";
import { lint } from "./check/lint.ts";
import { lineLengths } from "./check/line-lengths.ts";
import { migrations } from "./check/migrations.ts";
import { startUp } from "./check/start-up.ts";
import { types } from "./check/types.ts";
import { unused } from "./check/unused.ts";
import { workerTypes } from "./check/worker-types.ts";
import { reasonOf, Refusal, runScript } from "./refusal.ts";
import { closingLine } from "./test/tally.ts";

const checks = [
  format,
  lint,
  folderCycles,
  lineLengths,
  exportNames,
  access,
  workerTypes,
  types,
  unused,
  migrations,
  documents,
  bundleSize,
  startUp,
];

await runScript(async () => {
  const selected = selectChecks(process.argv.slice(2));
  const failed: string[] = [];
  // Some of the Worker's sources, which the checks read, are built first.
  await buildAssets();
  for (const check of selected) {
    if (!(await report(check))) failed.push(check.name);
  }
  if (failed.length > 0) {
    console.log(`failed: ${failed.join(", ")}`);
    process.exitCode = 1;
  }
  const passed = selected.length - failed.length;
  console.log(closingLine({ passed, failed: failed.length, skipped: 0 }));
});

function selectChecks(names: string[]): Check[] {
  const unknown = names.find((name) => !checks.some((check) => check.name === name));
  if (unknown) {
    const known = checks.map((check) => check.name).join(", ");
    throw new Refusal(`unknown check "${unknown}"; the checks are ${known}`);
  }
  return names.length === 0 ? checks : checks.filter((check) => names.includes(check.name));
}

async function report(check: Check): Promise<boolean> {
  const start = performance.now();
  const result = await check.run().catch((error: unknown) => ({
    isOk: false,
    detail:
      error instanceof Refusal ? error.message : `the check itself failed: ${reasonOf(error)}`,
  }));
  const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
  const { isOk, detail } = result;
  const note = isOk && detail ? `  (${detail})` : "";
  console.log(`${isOk ? "ok    " : "FAILED"} ${seconds} s  ${check.name}${note}`);
  if (!isOk && detail) console.log(detail.replaceAll(/^/gm, "    "));
  return isOk;
}
