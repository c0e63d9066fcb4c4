import { parseArgs } from "node:util";

import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  /** Versions of the large package. */
  versions: number;
  /** Packages of an installation. */
  packages: number;
  /** Duration of each measurement of a case. */
  seconds: number;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        versions: { type: "string", default: "1000" },
        packages: { type: "string", default: "300" },
        seconds: { type: "string", default: "2" },
      },
    });
    return {
      versions: numberOption("--versions", values.versions, 1, 10_000),
      packages: numberOption("--packages", values.packages, 1, 2000),
      seconds: numberOption("--seconds", values.seconds, 0.1, 60),
    };
  });
}
