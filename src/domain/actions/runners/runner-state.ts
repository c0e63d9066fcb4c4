import type { Runner } from "../../../db/schema/index.ts";

/** After how long without a request a runner counts as offline, in milliseconds. */
export const OFFLINE_MS = 90_000;

/**
 * How old the noted time of a runner's last request becomes before it is noted anew, in
 * milliseconds.
 */
export const NOTED_MS = 30_000;

/** A runner, and whether a job runs on it. */
export interface RunnerWithWork extends Runner {
  readonly isBusy: boolean;
}

export type RunnerState = "idle" | "active" | "offline";

/** @param now In milliseconds. */
export function runnerState(runner: RunnerWithWork, now: number): RunnerState {
  if (now - runner.lastOnlineAt > OFFLINE_MS) return "offline";
  return runner.isBusy ? "active" : "idle";
}
