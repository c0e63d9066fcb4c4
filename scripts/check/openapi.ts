import { type Check, runCheckTool } from "./check.ts";

/** openapi.json matches the routes. */
export const openapi: Check = {
  name: "openapi",
  run: () => runCheckTool("node", ["scripts/openapi.ts", "--check"]),
};
