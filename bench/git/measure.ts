import type { Forge, Usage } from "./forge.ts";
import { readMemory, resetPeak } from "../support/process.ts";

/** The measurements of one run of a case. */
export type Measurement = {
  /** Time until the client has finished. */
  seconds: number;
  /** CPU time of the server, including its work after the response. */
  cpuSeconds: number;
  /** Increase of the server's resident memory to its peak, in bytes; undefined for git. */
  riseBytes: number | undefined;
  /** Its peak. */
  peakBytes: number | undefined;
  usage: Usage | undefined;
};

export async function measure(forge: Forge, work: () => Promise<void>): Promise<Measurement> {
  await forge.settle();
  forge.takeUsage();
  const pid = forge.pid();
  if (pid !== undefined) resetPeak(pid);
  const before = pid === undefined ? undefined : readMemory(pid).residentBytes;
  const cpuBefore = forge.cpuSeconds();

  const from = performance.now();
  await work();
  const seconds = (performance.now() - from) / 1000;

  await forge.settle();
  const peakBytes = pid === undefined ? undefined : readMemory(pid).peakBytes;
  return {
    seconds,
    cpuSeconds: forge.cpuSeconds() - cpuBefore,
    riseBytes: peakBytes === undefined || before === undefined ? undefined : peakBytes - before,
    peakBytes,
    usage: forge.takeUsage(),
  };
}

/** The median of each measurement; for storage calls the last value, for memory the maximum. */
export function summarize(runs: Measurement[]): Measurement {
  const middle = (of: (run: Measurement) => number): number =>
    runs.map(of).toSorted((a, b) => a - b)[runs.length >> 1] ?? Number.NaN;
  const most = (of: (run: Measurement) => number | undefined): number | undefined => {
    const values = runs.flatMap((run) => of(run) ?? []);
    return values.length === 0 ? undefined : Math.max(...values);
  };
  return {
    seconds: middle((run) => run.seconds),
    cpuSeconds: middle((run) => run.cpuSeconds),
    riseBytes: most(({ riseBytes }) => riseBytes),
    peakBytes: most(({ peakBytes }) => peakBytes),
    usage: runs.at(-1)?.usage,
  };
}
