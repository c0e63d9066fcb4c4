import { nextTask } from "./next-task.ts";

/**
 * Steps after which the other requests of the isolate have their turn: 5 to 10 ms of processor
 * time. Each pause takes 1.2 ms: half as many steps would make a large push take a fifth longer.
 */
export const SLICE_STEPS = 1_000_000;

/**
 * The work that the isolate has counted since another request could last run: all requests
 * share one thread.
 */
let steps = 0;
/**
 * The most steps between two pauses, and how many pauses there were, since a test has last asked.
 */
let seen = { longest: 0, pauses: 0 };

/** Counts steps of work, of 5 to 10 ns of processor time each. */
export function consumeSlice(more: number): void {
  steps += more;
  if (steps > seen.longest) seen.longest = steps;
}

/**
 * Lets other requests run if a slice of work is done; undefined if not.
 *
 * A loop over input calls it for each item, with what the item takes. The count is one for the
 * isolate and not one for each piece of work, so that many short pieces, one after the other, give
 * way like a long one.
 *
 * @param more Steps that are not counted yet.
 */
export function pause(more = 0): Promise<void> | undefined {
  consumeSlice(more);
  return steps < SLICE_STEPS ? undefined : giveWay();
}

/** Begins a slice: another request has just run. */
export function beginSlice(): void {
  steps = 0;
}

/** The most steps between two pauses and the number of pauses since the last call, for tests. */
export function takeSlices(): Readonly<typeof seen> {
  const taken = seen;
  steps = 0;
  seen = { longest: 0, pauses: 0 };
  return taken;
}

async function giveWay(): Promise<void> {
  seen.pauses++;
  await nextTask();
  beginSlice();
}
