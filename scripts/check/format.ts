import { type Check, judge } from "./check.ts";

export const format: Check = {
  name: "format",
  run: () => judge("oxfmt", ["--check", "."]),
};
