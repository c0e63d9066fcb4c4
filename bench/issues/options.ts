import { parseArgs } from "node:util";

import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  /** Issues of the repository; it has five times as many comments. */
  issues: number;
  /** Duration of each measurement of a case. */
  seconds: number;
};

const ISSUES_MIN = 2000;
const ISSUES_MAX = 2_000_000;

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        issues: { type: "string", default: "50000" },
        seconds: { type: "string", default: "2" },
      },
    });
    const issues = numberOption("--issues", values.issues, ISSUES_MIN, ISSUES_MAX);
    return {
      // A tenth of them is a whole number too.
      issues: Math.ceil(issues / 100) * 100,
      seconds: numberOption("--seconds", values.seconds, 0.1, 60),
    };
  });
}
