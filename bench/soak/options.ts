import { parseArgs } from "node:util";

import { numberOption, refusingUnknown } from "../support/options.ts";

export type Options = {
  minutes: number;
  /** Concurrent workers. */
  concurrency: number;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const options = {
      minutes: { type: "string", default: "30" },
      concurrency: { type: "string", default: "4" },
    } as const;
    const { values } = parseArgs({ args, options });
    return {
      minutes: numberOption("--minutes", values.minutes, 1, 10_000),
      concurrency: Math.round(numberOption("--concurrency", values.concurrency, 1, 64)),
    };
  });
}
