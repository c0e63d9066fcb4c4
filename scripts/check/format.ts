import { type Check, runCheckTool } from "./check.ts";

export const format: Check = {
  name: "format",
  run: () => runCheckTool("oxfmt", ["--check", "."]),
};
