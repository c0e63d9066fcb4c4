import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";
import { DEFAULT_CACHE } from "../git/options.ts";
import { SIZES, type Size } from "../git/sizes.ts";
import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  size: Size;
  /** An existing repository to use; undefined to generate one. */
  repository: string | undefined;
  runs: number;
  /** Pull requests that are open on one base when it is pushed to. */
  open: number;
  /** Cache directory for generated repositories. */
  cache: string;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        size: { type: "string", default: "medium" },
        repository: { type: "string" },
        runs: { type: "string", default: "5" },
        open: { type: "string", default: "1000" },
        cache: { type: "string", default: DEFAULT_CACHE },
      },
    });
    const size = SIZES.find((each) => each === values.size);
    if (!size)
      throw new Refusal(`--size: unknown size "${values.size}"; the sizes are ${SIZES.join(", ")}`);
    return {
      size,
      repository: values.repository === undefined ? undefined : resolve(values.repository),
      runs: Math.round(numberOption("--runs", values.runs, 1, 100)),
      open: Math.round(numberOption("--open", values.open, 1, 10_000)),
      cache: resolve(values.cache),
    };
  });
}
