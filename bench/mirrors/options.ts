import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";
import { DEFAULT_CACHE } from "../git/options.ts";
import { MIRRORED_SIZES, type Size } from "../git/sizes.ts";
import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  sizes: readonly Size[];
  /** An existing repository to use; undefined to generate one. */
  repository: string | undefined;
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
        size: { type: "string", multiple: true, default: ["medium", "wide"] },
        repository: { type: "string" },
        runs: { type: "string", default: "3" },
        cache: { type: "string", default: DEFAULT_CACHE },
      },
    });
    const sizes = values.size.map((text) => {
      const size = MIRRORED_SIZES.find((each) => each === text);
      if (size) return size;
      throw new Refusal(
        `--size: unknown size "${text}"; the sizes are ${MIRRORED_SIZES.join(", ")}`,
      );
    });
    return {
      sizes,
      repository: values.repository === undefined ? undefined : resolve(values.repository),
      runs: Math.round(numberOption("--runs", values.runs, 1, 100)),
      cache: resolve(values.cache),
    };
  });
}
