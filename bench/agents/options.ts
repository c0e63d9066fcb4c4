import { parseArgs } from "node:util";

import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  /** Sessions of each side. */
  sessions: number;
  /** Sessions at once. */
  concurrency: number;
  /** Files of the template. */
  files: number;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        sessions: { type: "string", default: "1000" },
        concurrency: { type: "string", default: "4" },
        files: { type: "string", default: "100" },
      },
    });
    const countOf = (name: keyof Options, max: number): number =>
      Math.round(numberOption(`--${name}`, values[name], 1, max));
    return {
      sessions: countOf("sessions", 100_000),
      concurrency: countOf("concurrency", 64),
      files: countOf("files", 10_000),
    };
  });
}
