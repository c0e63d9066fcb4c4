import { type Check, judge } from "./check.ts";

export const lint: Check = {
  name: "lint",
  run: () => judge("oxlint", ["--type-aware", "--deny-warnings"]),
};
