import { type Check, judge } from "./check.ts";

/** openapi.json is what the routes say. */
export const openapi: Check = {
  name: "openapi",
  run: () => judge("node", ["scripts/openapi.ts", "--check"]),
};
