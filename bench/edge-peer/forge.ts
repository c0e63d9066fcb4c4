import type { Forge } from "../git/forge.ts";
import { readCpuTime } from "../support/process.ts";
import { findBelow } from "../support/process-tree.ts";
import { waitForRest } from "../support/rest.ts";

/** A git service on the platform. */
export type EdgeForge = Forge & {
  /** Forks a repository of `create` under another name, until the fork can be read. */
  fork: (name: string, target: string) => Promise<void>;
};

/**
 * What is measured of a service: the runtime of the platform, without what starts it on this
 * machine and passes its traffic on.
 *
 * @param pid The process below which the runtime is.
 */
export function observe(
  pid: () => number,
): Pick<Forge, "settle" | "cpuSeconds" | "pid" | "takeUsage"> {
  const cpuSeconds = (): number =>
    findBelow(pid(), "workerd").reduce((sum, each) => sum + readCpuTime(each).own, 0);
  return {
    settle: () => waitForRest(cpuSeconds),
    cpuSeconds,
    pid: () => undefined,
    takeUsage: () => undefined,
  };
}
