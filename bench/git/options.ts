import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";
import { numberOption, refusingUnknown } from "../support/options.ts";
import { CASE_NAMES, type CaseName } from "./case-names.ts";
import { SIZES, type Size } from "./sizes.ts";

/** What the benchmark is told on its command line. */
export type Options = {
  /** The repositories to run with: of each its size, and where it is if it is not to be made. */
  repositories: { size: Size; path: string | undefined }[];
  cases: CaseName[];
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
        all: { type: "boolean", default: false },
        sizes: { type: "string" },
        small: { type: "string" },
        medium: { type: "string" },
        wide: { type: "string" },
        only: { type: "string" },
        runs: { type: "string", default: "3" },
        cache: { type: "string", default: join(tmpdir(), "edgeforge-bench-repositories") },
      },
    });
    const given = SIZES.filter((size) => values[size] !== undefined);
    const usual: readonly Size[] = given.length > 0 ? given : ["small"];
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

/** Those of `all` that a list separated by commas names. */
function choose<Name extends string>(
  option: string,
  text: string | undefined,
  all: readonly Name[],
  usual: readonly Name[],
): Name[] {
  if (text === undefined) return [...usual];
  const names = text.split(",");
  const unknown = names.find((name) => !all.some((known) => known === name));
  if (unknown === undefined) return all.filter((known) => names.includes(known));
  throw new Refusal(`${option}: there is no "${unknown}"; there are ${all.join(", ")}`);
}
