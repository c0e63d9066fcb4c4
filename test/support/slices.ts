import { expect } from "vitest";

import { SLICE_STEPS, takeSlices } from "../../src/lib/time-slice.ts";

/** Some 15 to 30 ms, where a request may hold the thread for 50. */
export const HELD_STEPS_MAX = 3 * SLICE_STEPS;

/**
 * Runs work and checks that it lets other requests run: at least `pausesMin` times, and never after
 * more than `heldStepsMax` counted steps.
 */
export async function expectPauses<T>(
  pausesMin: number,
  work: () => Promise<T>,
  heldStepsMax = HELD_STEPS_MAX,
): Promise<T> {
  takeSlices();
  const result = await work();
  const { longest, pauses } = takeSlices();
  expect(pauses).toBeGreaterThanOrEqual(pausesMin);
  expect(longest).toBeLessThanOrEqual(heldStepsMax);
  return result;
}
