import { readMemory } from "../support/process.ts";
import { median } from "../support/statistics.ts";

/** Resident memory at a time since the start of the load. */
export type Sample = { atMs: number; residentBytes: number };

const INTERVAL_MS = 1000;

/** The part of the run before memory is measured: caches fill and code is compiled. */
const WARM_UP = 1 / 3;

/** Of the rest, the part at its beginning that is compared with the equally long one at its end. */
const WINDOW = 1 / 4;

/**
 * A shorter life ends before the heaps have their usual size, which takes some twenty minutes: only
 * its end is compared.
 */
const LIFE_MIN_MS = 30 * 60_000;

/** Allowed growth between the two, and from the first life of the service to the last. */
const GROWTH_MAX = 0.1;

/**
 * Samples the memory of the service once a second: a list for each of its lives, since a killed one
 * begins anew.
 */
export class MemorySamples {
  readonly lives: Sample[][] = [];
  readonly #startedAtMs = performance.now();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Begins a life. */
  follow(pid: number): void {
    const samples: Sample[] = [];
    this.lives.push(samples);
    const take = (): void => {
      const atMs = performance.now() - this.#startedAtMs;
      samples.push({ atMs, residentBytes: readMemory(pid).residentBytes });
    };
    take();
    this.#timer = setInterval(take, INTERVAL_MS);
  }

  /** Ends the present life, before its process ends. */
  pause(): void {
    clearInterval(this.#timer);
  }
}

/**
 * Compares the medians of two windows of each long life after its warm-up, and the ends of the
 * first life and the last: single samples vary with the collection of garbage and with the merging
 * of packs, so of the lives the median decides.
 *
 * @returns Why the memory is not flat; empty if it is.
 */
export function findGrowth(lives: readonly (readonly Sample[])[]): string[] {
  const windows = lives.map(windowsOf);
  const growths = windows
    .filter((_, at) => durationOf(lives[at] ?? []) >= LIFE_MIN_MS)
    .map(({ firstBytes, lastBytes }) => lastBytes / firstBytes - 1);
  const within = median(growths);
  const [first, last] = [windows[0]?.lastBytes ?? Number.NaN, windows.at(-1)?.lastBytes ?? 0];
  const complaints: string[] = [];
  if (within > GROWTH_MAX) complaints.push(`memory grew by ${inPercent(within)} after the warm-up`);
  if (last / first - 1 > GROWTH_MAX) {
    complaints.push(`memory grew by ${inPercent(last / first - 1)} from life to life`);
  }
  return complaints;
}

const durationOf = (samples: readonly Sample[]): number =>
  (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0);

const inPercent = (share: number): string => `${(100 * share).toFixed(0)} %`;

/** The medians of the first and the last window after the warm-up. */
export function windowsOf(samples: readonly Sample[]): { firstBytes: number; lastBytes: number } {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const length = Math.max(1, Math.floor(warm.length * WINDOW));
  return { firstBytes: medianOf(warm.slice(0, length)), lastBytes: medianOf(warm.slice(-length)) };
}

const medianOf = (samples: readonly Sample[]): number =>
  median(samples.map(({ residentBytes }) => residentBytes));
