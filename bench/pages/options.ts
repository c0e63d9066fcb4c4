import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { projectRoot } from "../../scripts/project.ts";
import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  /** The program of Gitea; undefined to measure the service alone. */
  gitea: string | undefined;
  /** The directory of its templates and other files; undefined if the program contains them. */
  giteaStatic: string | undefined;
  /** A repository whose history both sides have. */
  history: string;
  /** Rounds of each case, in turns of both sides. */
  rounds: number;
  /** Duration of a measurement in a round; each round has two. */
  seconds: number;
  /** Commits of the large history; 0 to leave it out. */
  commits: number;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        gitea: { type: "string" },
        "gitea-static": { type: "string" },
        history: { type: "string", default: projectRoot },
        rounds: { type: "string", default: "5" },
        seconds: { type: "string", default: "1" },
        commits: { type: "string", default: "100000" },
      },
    });
    const pathOf = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
    return {
      gitea: pathOf(values.gitea),
      giteaStatic: pathOf(values["gitea-static"]),
      history: resolve(values.history),
      rounds: Math.round(numberOption("--rounds", values.rounds, 1, 1000)),
      seconds: numberOption("--seconds", values.seconds, 0.1, 60),
      commits: Math.round(numberOption("--commits", values.commits, 0, 1_000_000)),
    };
  });
}
