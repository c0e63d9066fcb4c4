import type { ClassUse, ResourceClass } from "./resources.ts";
import type { Histogram } from "./simulator/histogram.ts";
import type { Totals } from "./totals.ts";

export type SimulationOptions = {
  /** Whether reads are answered by replicas. */
  hasReplicas: boolean;
  /** Multiplies the requests of the day and the bursts; the data stays the same. */
  scale: number;
  seed: number;
  /** Simulated milliseconds of each half hour. */
  sampleMs: number;
};

/** The phases of a day: its hours near the peak, the others, and each burst by its name. */
export const PEAK = "peak";
export const OTHER = "other hours";

export type SimulationResult = {
  options: SimulationOptions;
  phases: Map<string, Map<ResourceClass, ClassUse>>;
  /** Response times at the peak, by kind. */
  responses: Map<string, Histogram>;
  /** From the start of the request to the answer of the receiver, by phase. */
  deliveries: Map<string, Histogram>;
  /** What a day uses. */
  totals: Totals;
  /** Simulated requests and jobs. */
  arrived: number;
  completed: number;
  refused: number;
  /** Messages that came again: over the rate of a queue, or when a database was overloaded. */
  sentAgain: number;
  /** Simulated requests, and those of which isolates had the guard or the whole answer. */
  kept: { requests: number; guard: number; answer: number };
};

export const busiestAtPeak = (result: SimulationResult, of: ResourceClass): number =>
  result.phases.get(PEAK)?.get(of)?.busiest ?? 0;
