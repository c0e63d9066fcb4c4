import { type Check, runCheckTool, toResult } from "./check.ts";

/**
 * No file, export or package is unused (knip.json lists the entry points), and no file or export of
 * the Worker, the scripts and the benchmarks is used by tests only (knip.production.jsonc).
 */
export const unused: Check = {
  name: "unused",
  run: async () => {
    const all = await runCheckTool("knip", ["--no-progress"]);
    const config = ["--config", "knip.production.jsonc"];
    const production = await runCheckTool("knip", ["--no-progress", "--production", ...config]);
    return toResult([
      ...(all.isOk ? [] : [all.detail]),
      ...(production.isOk ? [] : [`used by tests only:\n${production.detail}`]),
    ]);
  },
};
