import { parseArgs } from "node:util";

import { refusingUnknown } from "../support/options.ts";

/** How much is measured. */
export type Plan = {
  /** Hooks of a repository, and how many events each way of measuring it has. */
  sizes: { hooks: number; events: number }[];
  /** Repositories that are pushed to at once, how often each, and those that git pushes to. */
  crowd: { repositories: number; events: number; pushes: number };
  /** Hooks of a repository of which one never answers, and events. */
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

/** @throws Refusal naming the option and what it allows. */
export function parseOptions(args: string[]): Plan {
  return refusingUnknown(() => {
    const options = { quick: { type: "boolean", default: false } } as const;
    return parseArgs({ args, options }).values.quick ? QUICK : FULL;
  });
}
