import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { SIZES, type Size } from "../git/sizes.ts";
import { choose, numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  /** Duration of each profile, and of each measurement without one. */
  seconds: number;
  /** How often each is repeated, in turns of the doors and versions. */
  rounds: number;
  /**
   * The directory of another version of the project, with its `node_modules`; undefined for none.
   */
  before: string | undefined;
  /** The repositories that are pushed, instead of requests of the doors. */
  pushed: readonly Size[];
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        seconds: { type: "string", default: "1" },
        rounds: { type: "string", default: "3" },
        before: { type: "string" },
        push: { type: "string" },
      },
    });
    return {
      seconds: numberOption("--seconds", values.seconds, 0.1, 60),
      rounds: Math.round(numberOption("--rounds", values.rounds, 1, 100)),
      before: values.before === undefined ? undefined : resolve(values.before),
      pushed: choose("--push", values.push, SIZES, []),
    };
  });
}
