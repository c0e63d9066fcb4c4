import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";
import { numberOption, refusingUnknown } from "../support/options.ts";

/** Command-line options of the benchmark. */
export type Options = {
  /** The program of Gitea. */
  gitea: string;
  /** The directory of its templates and other files; undefined if the program contains them. */
  giteaStatic: string | undefined;
  /** Repositories on each side. */
  repositories: number;
  /** Rounds of each case, in turns of both sides. */
  rounds: number;
  /** Duration of a measurement in a round; each round has two. */
  seconds: number;
  /** The cases that are measured; undefined for all. */
  only: readonly string[] | undefined;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        gitea: { type: "string" },
        "gitea-static": { type: "string" },
        repositories: { type: "string", default: "300" },
        rounds: { type: "string", default: "5" },
        seconds: { type: "string", default: "0.5" },
        only: { type: "string" },
      },
    });
    if (values.gitea === undefined)
      throw new Refusal("--gitea must be the path of Gitea's program");
    const giteaStatic = values["gitea-static"];
    return {
      gitea: resolve(values.gitea),
      giteaStatic: giteaStatic === undefined ? undefined : resolve(giteaStatic),
      repositories: Math.round(numberOption("--repositories", values.repositories, 50, 10_000)),
      rounds: Math.round(numberOption("--rounds", values.rounds, 1, 1000)),
      seconds: numberOption("--seconds", values.seconds, 0.1, 60),
      only: values.only?.split(","),
    };
  });
}
