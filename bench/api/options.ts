import { parseArgs } from "node:util";

import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  /** Size of the tables: 1 is 100,000 users, 100,000 repositories and 1,000,000 stars. */
  scale: number;
  /** Duration of each measurement of a case. */
  seconds: number;
};

const SCALE_MIN = 0.01;

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        scale: { type: "string", default: "1" },
        seconds: { type: "string", default: "3" },
      },
    });
    return {
      scale: numberOption("--scale", values.scale, SCALE_MIN, 10),
      seconds: numberOption("--seconds", values.seconds, 0.1, 60),
    };
  });
}
