import { type Check, runCheckTool } from "./check.ts";

export const lint: Check = {
  name: "lint",
  run: () => runCheckTool("oxlint", ["--type-aware", "--deny-warnings"]),
};
