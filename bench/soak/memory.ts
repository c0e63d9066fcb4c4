import { readMemory } from "../support/process.ts";

/** Resident memory at a time since the start of the load. */
export type Sample = { atMs: number; residentBytes: number };

const INTERVAL_MS = 1000;

/** The part of the run before memory is judged: caches fill and code is compiled. */
const WARM_UP = 1 / 3;

/** Of the rest, the part at its beginning that is compared with the equally long one at its end. */
const WINDOW = 1 / 4;

/** Allowed growth between the two. */
const GROWTH_MAX = 0.1;

/**
 * Samples the memory of a process once a second.
 *
 * @param durationMs The planned duration; samples after it are not taken.
 */
export function sampleMemory(pid: number, durationMs: number): { stop: () => Sample[] } {
  const samples: Sample[] = [];
  const startedAtMs = performance.now();
  const take = (): void => {
    const atMs = performance.now() - startedAtMs;
    if (atMs <= durationMs) samples.push({ atMs, residentBytes: readMemory(pid).residentBytes });
  };
  take();
  const timer = setInterval(take, INTERVAL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}

/**
 * Compares the medians of two windows after the warm-up: single samples vary with the collection of garbage and with
 * the merging of packs.
 *
 * @returns Why the memory is not flat; empty if it is.
 */
export function findGrowth(samples: readonly Sample[]): string[] {
  const { firstBytes, lastBytes } = windowsOf(samples);
  const growth = lastBytes / firstBytes - 1;
  if (growth <= GROWTH_MAX) return [];
  return [`memory grew by ${(100 * growth).toFixed(0)} % after the warm-up`];
}

/** The medians of the first and the last window after the warm-up. */
export function windowsOf(samples: readonly Sample[]): { firstBytes: number; lastBytes: number } {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const length = Math.max(1, Math.floor(warm.length * WINDOW));
  return { firstBytes: medianOf(warm.slice(0, length)), lastBytes: medianOf(warm.slice(-length)) };
}

export function medianOf(samples: readonly Sample[]): number {
  const sorted = samples.map(({ residentBytes }) => residentBytes).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
