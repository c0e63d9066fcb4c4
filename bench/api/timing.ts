import type { Case } from "./cases.ts";
import { ask, type Client } from "./client.ts";

export type Timing = {
  perSecond: number;
  /** Processor time that the server took for each answer, in milliseconds. */
  cpuMs: number;
  p50Ms: number;
  p99Ms: number;
};

/** Requests under way at once while the rate is measured. */
export const CONCURRENCY = 16;
/** Share of a measurement that goes before it uncounted: until the code is compiled. */
const WARM_UP = 0.25;

type Story = Pick<Case, "name" | "status" | "next">;

/**
 * Measures a case twice: how long one request takes while nothing else happens, and how many are
 * answered in a second when there is always another one waiting.
 *
 * @param cpuSeconds Processor time of the server until now.
 */
export async function time(
  client: Client,
  story: Story,
  seconds: number,
  cpuSeconds: () => number = () => Number.NaN,
): Promise<Timing> {
  await repeat(client, story, seconds * WARM_UP);
  const alone = (await repeat(client, story, seconds)).toSorted((a, b) => a - b);

  const from = performance.now();
  const cpuFrom = cpuSeconds();
  const lanes = Array.from({ length: CONCURRENCY }, () => repeat(client, story, seconds));
  const count = (await Promise.all(lanes)).flat().length;
  return {
    perSecond: count / ((performance.now() - from) / 1000),
    cpuMs: (1000 * (cpuSeconds() - cpuFrom)) / count,
    p50Ms: percentile(alone, 0.5),
    p99Ms: percentile(alone, 0.99),
  };
}

/** @returns How long each request took, in milliseconds. */
async function repeat(client: Client, story: Story, seconds: number): Promise<number[]> {
  const end = performance.now() + seconds * 1000;
  const durationsMs: number[] = [];
  while (performance.now() < end) durationsMs.push((await ask(client, story)).durationMs);
  return durationsMs;
}

const percentile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
