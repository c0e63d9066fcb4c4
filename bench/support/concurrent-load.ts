/** Requests of one measurement: how many, and what they took. */
export type Load = {
  count: number;
  /** From the first request to the last answer. */
  seconds: number;
  /** CPU time of the server. */
  cpuSeconds: number;
  /** Of each request, in milliseconds. */
  durationsMs: number[];
};

/**
 * Sends requests for some time, each connection one after the other.
 *
 * @param send Sends one request. @returns Its duration in milliseconds.
 * @param cpuSeconds CPU time of the server so far.
 */
export async function runLoad(
  send: () => Promise<number>,
  connections: number,
  seconds: number,
  cpuSeconds: () => number,
): Promise<Load> {
  const durationsMs: number[] = [];
  const from = performance.now();
  const cpuFrom = cpuSeconds();
  const end = from + seconds * 1000;
  const loop = async (): Promise<void> => {
    while (performance.now() < end) durationsMs.push(await send());
  };
  await Promise.all(Array.from({ length: connections }, loop));
  return {
    count: durationsMs.length,
    seconds: (performance.now() - from) / 1000,
    cpuSeconds: cpuSeconds() - cpuFrom,
    durationsMs,
  };
}
