import { type Check, judge } from "./check.ts";

/** Files, exports and packages that nobody uses (knip.json says where use begins). */
export const unused: Check = {
  name: "unused",
  run: () => judge("knip", ["--no-progress"]),
};
