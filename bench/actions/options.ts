import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  /** The program of Gitea; undefined to measure the service alone. */
  gitea: string | undefined;
  /** The directory of its templates and other files; undefined if the program contains them. */
  giteaStatic: string | undefined;
  /** Pushes whose way to a runner is timed. */
  pushes: number;
  /** Jobs that become ready at once, and the runners that ask for them. */
  jobs: number;
  runners: number;
  /** Pieces of a log, of 1,000 rows each. */
  pieces: number;
  /** Runners that ask while there is nothing to do, and for how long. */
  idle: number;
  seconds: number;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        gitea: { type: "string" },
        "gitea-static": { type: "string" },
        pushes: { type: "string", default: "10" },
        jobs: { type: "string", default: "500" },
        runners: { type: "string", default: "50" },
        pieces: { type: "string", default: "100" },
        idle: { type: "string", default: "100" },
        seconds: { type: "string", default: "20" },
      },
    });
    const pathOf = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
    const countOf = (
      name: "pushes" | "jobs" | "runners" | "pieces" | "idle",
      max: number,
    ): number => Math.round(numberOption(`--${name}`, values[name], 1, max));
    return {
      gitea: pathOf(values.gitea),
      giteaStatic: pathOf(values["gitea-static"]),
      pushes: countOf("pushes", 1000),
      jobs: countOf("jobs", 10_000),
      runners: countOf("runners", 1000),
      pieces: countOf("pieces", 10_000),
      idle: countOf("idle", 1000),
      seconds: numberOption("--seconds", values.seconds, 1, 600),
    };
  });
}
