import { parseArgs } from "node:util";

import { numberOption, refusingUnknown } from "../support/options.ts";

export type Options = {
  minutes: number;
  /** Concurrent workers. */
  concurrency: number;
  /** Minutes between two kills of the service; 0 for none. */
  killMinutes: number;
  /** The share of the measured capacity that the load takes. */
  share: number;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const options = {
      minutes: { type: "string", default: "120" },
      concurrency: { type: "string", default: "4" },
      "kill-minutes": { type: "string", default: "10" },
      share: { type: "string", default: "0.5" },
    } as const;
    const { values } = parseArgs({ args, options });
    return {
      minutes: numberOption("--minutes", values.minutes, 1, 10_000),
      concurrency: Math.round(numberOption("--concurrency", values.concurrency, 1, 64)),
      killMinutes: numberOption("--kill-minutes", values["kill-minutes"], 0, 10_000),
      share: numberOption("--share", values.share, 0.01, 1),
    };
  });
}
