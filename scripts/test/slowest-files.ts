import type { Costs } from "./ledger.ts";

const COUNT = 20;

/**
 * The files with the highest CPU time, one line each, under a heading that .ci/run searches for.
 */
export function slowestFiles(costs: Costs): string {
  const slowest = Object.entries(costs)
    .toSorted(([, one], [, other]) => other.cpuMs - one.cpuMs)
    .slice(0, COUNT)
    .map(([file, { cpuMs, d1Calls = 0 }]) => {
      const seconds = (cpuMs / 1000).toFixed(1).padStart(6);
      return `${seconds} s  ${String(d1Calls).padStart(6)} D1 calls  ${file}`;
    });
  return ["slowest files, by processor time:", ...slowest, ""].join("\n");
}
