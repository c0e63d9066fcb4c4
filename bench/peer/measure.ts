import { runLoad } from "../support/concurrent-load.ts";
import { treeCpuSeconds } from "../support/process-tree.ts";
import { median, percentile } from "../support/statistics.ts";
import type { PeerCase } from "./cases.ts";
import type { Data } from "./data.ts";
import { askOnce, type Side } from "./side.ts";

/** What a case costs on one side. */
export type Measured = {
  perSecond: number;
  /** CPU time of all processes per request, in milliseconds. */
  cpuMs: number;
  /** Of one request at a time. */
  p50Ms: number;
  p99Ms: number;
};

/** Concurrent requests while the rate is measured. */
export const CONNECTIONS = 4;

/** Counts the requests of both sides, so that no two create the same thing. */
let turn = 0;

/**
 * Measures a case in turns of the sides, whose order alternates. @returns The medians of the
 * rounds, by side.
 */
export async function measureCase(
  sides: readonly (readonly [Side, Data])[],
  one: PeerCase,
  rounds: number,
  seconds: number,
): Promise<Measured[]> {
  const rates = sides.map((): { perSecond: number; cpuMs: number }[] => []);
  const alone = sides.map((): number[] => []);
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const order = [...sides.keys()];
    if (round % 2 === 1) order.reverse();
    for (const at of order) {
      const opened = sides[at];
      if (!opened) continue;
      const [side, data] = opened;
      const send = (): Promise<number> => {
        turn += 1;
        return askOnce(side, one.name, one.status, one.next(turn, data, side.token));
      };
      const cpuSeconds = (): number => treeCpuSeconds(side.pid());
      const load = await runLoad(send, CONNECTIONS, seconds, cpuSeconds);
      const single = await runLoad(send, 1, seconds, cpuSeconds);
      if (round === 0) continue;
      rates[at]?.push({
        perSecond: load.count / load.seconds,
        cpuMs: (1000 * load.cpuSeconds) / load.count,
      });
      alone[at]?.push(...single.durationsMs);
    }
  }
  return sides.map((_, at) => {
    const sorted = (alone[at] ?? []).toSorted((a, b) => a - b);
    const of = rates[at] ?? [];
    return {
      perSecond: median(of.map(({ perSecond }) => perSecond)),
      cpuMs: median(of.map(({ cpuMs }) => cpuMs)),
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
    };
  });
}
