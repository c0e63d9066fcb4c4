import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";
import { SIZES, type Size } from "../git/sizes.ts";
import { numberOption, refusingUnknown } from "../support/options.ts";

/** What the benchmark is told on its command line. */
export type Options = {
  size: Size;
  /** A repository to be read, if it is not to be made. */
  repository: string | undefined;
  runs: number;
  /** Where repositories that were made are kept for the next time. */
  cache: string;
};

/** @throws Refusal naming the option and what it allows. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        size: { type: "string", default: "medium" },
        repository: { type: "string" },
        runs: { type: "string", default: "5" },
        cache: { type: "string", default: join(tmpdir(), "edgeforge-bench-repositories") },
      },
    });
    const size = SIZES.find((each) => each === values.size);
    if (!size)
      throw new Refusal(`--size: there is no "${values.size}"; there are ${SIZES.join(", ")}`);
    return {
      size,
      repository: values.repository === undefined ? undefined : resolve(values.repository),
      runs: Math.round(numberOption("--runs", values.runs, 1, 100)),
      cache: resolve(values.cache),
    };
  });
}
