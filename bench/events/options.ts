import { parseArgs } from "node:util";

import { refusingUnknown } from "../support/options.ts";

/** The extent of the measurement. */
export type Plan = {
  /** Whether only the bursts are measured. */
  isBurstOnly: boolean;
  /** Repositories, hooks of each, events of each that are written at once, and how often. */
  bursts: Burst[];
  /** Numbers of hooks of a repository, and of events for each measurement. */
  sizes: { hooks: number; events: number }[];
  /**
   * Repositories with concurrent events, events of each, and the number of concurrent pushes by
   * git.
   */
  crowd: { repositories: number; events: number; pushes: number };
  /** Hooks of a repository with one hanging receiver, and events. */
  hanging: { hooks: number; events: number };
};

/**
 * Events at once: `events` of each of `repositories`, in a row, with `hooks` hooks of each
 * repository.
 */
export type Burst = { repositories: number; hooks: number; events: number; rounds: number };

const FULL: Plan = {
  isBurstOnly: false,
  bursts: [
    { repositories: 1, hooks: 1000, events: 1, rounds: 4 },
    { repositories: 1, hooks: 200, events: 1, rounds: 8 },
    { repositories: 1, hooks: 3, events: 100, rounds: 1 },
    { repositories: 100, hooks: 3, events: 1, rounds: 1 },
  ],
  sizes: [
    { hooks: 1, events: 100 },
    { hooks: 100, events: 10 },
    { hooks: 1000, events: 2 },
  ],
  crowd: { repositories: 100, events: 2, pushes: 5 },
  hanging: { hooks: 100, events: 10 },
};

const QUICK: Plan = {
  isBurstOnly: false,
  bursts: [
    { repositories: 1, hooks: 200, events: 1, rounds: 4 },
    { repositories: 1, hooks: 3, events: 30, rounds: 1 },
    { repositories: 20, hooks: 3, events: 1, rounds: 1 },
  ],
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
    const options = {
      quick: { type: "boolean", default: false },
      burst: { type: "boolean", default: false },
    } as const;
    const { quick, burst } = parseArgs({ args, options }).values;
    return { ...(quick ? QUICK : FULL), isBurstOnly: burst };
  });
}
