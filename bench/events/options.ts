import { parseArgs } from "node:util";

import { refusingUnknown } from "../support/options.ts";

/** The extent of the measurement. */
export type Plan = {
  /** Numbers of hooks of a repository, and of events for each measurement. */
  sizes: { hooks: number; events: number }[];
  /** Repositories with concurrent events, events of each, and the number of concurrent pushes by git. */
  crowd: { repositories: number; events: number; pushes: number };
  /** Hooks of a repository with one hanging receiver, and events. */
  hanging: { hooks: number; events: number };
};

const FULL: Plan = {
  sizes: [
    { hooks: 1, events: 100 },
    { hooks: 100, events: 10 },
    { hooks: 1000, events: 2 },
  ],
  crowd: { repositories: 100, events: 2, pushes: 5 },
  hanging: { hooks: 100, events: 10 },
};

const QUICK: Plan = {
  sizes: [
    { hooks: 1, events: 20 },
    { hooks: 20, events: 3 },
  ],
  crowd: { repositories: 20, events: 2, pushes: 2 },
  hanging: { hooks: 20, events: 3 },
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Plan {
  return refusingUnknown(() => {
    const options = { quick: { type: "boolean", default: false } } as const;
    return parseArgs({ args, options }).values.quick ? QUICK : FULL;
  });
}
