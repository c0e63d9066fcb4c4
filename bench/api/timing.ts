import { percentile } from "../support/statistics.ts";
import type { Case } from "./cases.ts";
import { ask, type Client } from "./client.ts";

export type Timing = {
  perSecond: number;
  /** CPU time of the server per response, in milliseconds. */
  cpuMs: number;
  p50Ms: number;
  p99Ms: number;
};

/** Concurrent requests while the rate is measured. */
export const CONCURRENCY = 16;
/** Warm-up before a measurement, as a share of its duration: until the code is compiled. */
const WARM_UP = 0.25;

type TimedCase = Pick<Case, "name" | "status" | "next">;

/**
 * Measures a case twice: the latency of sequential requests, and the rate of responses under
 * constant concurrency.
 *
 * @param cpuSeconds CPU time of the server so far.
 */
export async function time(
  client: Client,
  apiCase: TimedCase,
  seconds: number,
  cpuSeconds: () => number = () => Number.NaN,
): Promise<Timing> {
  await repeat(client, apiCase, seconds * WARM_UP);
  const alone = (await repeat(client, apiCase, seconds)).toSorted((a, b) => a - b);

  const from = performance.now();
  const cpuFrom = cpuSeconds();
  const loops = Array.from({ length: CONCURRENCY }, () => repeat(client, apiCase, seconds));
  const count = (await Promise.all(loops)).flat().length;
  return {
    perSecond: count / ((performance.now() - from) / 1000),
    cpuMs: (1000 * (cpuSeconds() - cpuFrom)) / count,
    p50Ms: percentile(alone, 0.5),
    p99Ms: percentile(alone, 0.99),
  };
}

/** @returns The duration of each request, in milliseconds. */
async function repeat(client: Client, apiCase: TimedCase, seconds: number): Promise<number[]> {
  const end = performance.now() + seconds * 1000;
  const durationsMs: number[] = [];
  while (performance.now() < end) durationsMs.push((await ask(client, apiCase)).durationMs);
  return durationsMs;
}
