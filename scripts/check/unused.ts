import { type Check, judge, verdictOf } from "./check.ts";

/**
 * Files, exports and packages that nobody uses (knip.json says where use begins), and files and exports of
 * the Worker, the scripts and the benchmarks that only tests use (knip.production.jsonc).
 */
export const unused: Check = {
  name: "unused",
  run: async () => {
    const all = await judge("knip", ["--no-progress"]);
    const config = ["--config", "knip.production.jsonc"];
    const production = await judge("knip", ["--no-progress", "--production", ...config]);
    return verdictOf([
      ...(all.isOk ? [] : [all.detail]),
      ...(production.isOk ? [] : [`but for tests, nobody uses:\n${production.detail}`]),
    ]);
  },
};
