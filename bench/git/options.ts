import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { choose, numberOption, refusingUnknown } from "../support/options.ts";
import { CASE_NAMES, type CaseName } from "./case-names.ts";
import { SIZES, type Size } from "./sizes.ts";

/** Directory of generated repositories, which benchmarks share. */
export const DEFAULT_CACHE = join(tmpdir(), "edgeforge-bench-repositories");

/** Command-line options of the benchmark. */
export type Options = {
  /** The repositories to use: the size of each, and the path of an existing one. */
  repositories: { size: Size; path: string | undefined }[];
  cases: CaseName[];
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
        all: { type: "boolean", default: false },
        sizes: { type: "string" },
        small: { type: "string" },
        medium: { type: "string" },
        wide: { type: "string" },
        only: { type: "string" },
        runs: { type: "string", default: "3" },
        cache: { type: "string", default: DEFAULT_CACHE },
      },
    });
    const given = SIZES.filter((size) => values[size] !== undefined);
    const usual: readonly (typeof SIZES)[number][] = given.length > 0 ? given : ["small"];
    const sizes = values.all ? SIZES : choose("--sizes", values.sizes, SIZES, usual);
    return {
      repositories: sizes.map((size) => {
        const path = values[size];
        return { size, path: path === undefined ? undefined : resolve(path) };
      }),
      cases: choose("--only", values.only, CASE_NAMES, CASE_NAMES),
      runs: Math.round(numberOption("--runs", values.runs, 1, 100)),
      cache: resolve(values.cache),
    };
  });
}
