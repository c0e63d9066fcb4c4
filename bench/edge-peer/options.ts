import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { DEFAULT_CACHE } from "../git/options.ts";
import { SIZES, type Size } from "../git/sizes.ts";
import { choose, numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  sizes: Size[];
  /** Repositories on each side; each case is run once with each. */
  runs: number;
  /** Cache directory for generated repositories. */
  cache: string;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        sizes: { type: "string" },
        runs: { type: "string", default: "5" },
        cache: { type: "string", default: DEFAULT_CACHE },
      },
    });
    return {
      sizes: choose("--sizes", values.sizes, SIZES, ["small"]),
      runs: Math.round(numberOption("--runs", values.runs, 1, 100)),
      cache: resolve(values.cache),
    };
  });
}
