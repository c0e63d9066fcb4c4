import type { Forge, Usage } from "./forge.ts";
import { readMemory, resetPeak } from "../support/process.ts";

/** What one run of a case took. */
export type Measurement = {
  /** Until the client was through. */
  seconds: number;
  /** Processor time of the server, with what it did after its answer. */
  cpuSeconds: number;
  /** How far the server's resident memory rose above where it was; undefined for git. */
  riseBytes: number | undefined;
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
  return {
    seconds,
    cpuSeconds: forge.cpuSeconds() - cpuBefore,
    riseBytes:
      pid === undefined || before === undefined ? undefined : readMemory(pid).peakBytes - before,
    usage: forge.takeUsage(),
  };
}

/** The middle of each number; of what storage was asked for, the last, and of memory the most. */
export function summarize(runs: Measurement[]): Measurement {
  const middle = (of: (run: Measurement) => number): number =>
    runs.map(of).toSorted((a, b) => a - b)[runs.length >> 1] ?? Number.NaN;
  const rises = runs.flatMap(({ riseBytes }) => riseBytes ?? []);
  return {
    seconds: middle((run) => run.seconds),
    cpuSeconds: middle((run) => run.cpuSeconds),
    riseBytes: rises.length === 0 ? undefined : Math.max(...rises),
    usage: runs.at(-1)?.usage,
  };
}
