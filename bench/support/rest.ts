import { setTimeout as pause } from "node:timers/promises";

/** A service counts as idle after this time without CPU use. */
const REST_MS = 60;
const REST_WAIT_MS = 20_000;

/** Waits until a service is idle, but not for long. */
export async function waitForRest(cpuSeconds: () => number): Promise<void> {
  const end = Date.now() + REST_WAIT_MS;
  for (let before = -1; before !== cpuSeconds() && Date.now() < end;) {
    before = cpuSeconds();
    await pause(REST_MS);
  }
}
