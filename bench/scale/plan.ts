import type { Inputs } from "./inputs/read.ts";
import type { Layout } from "./layout.ts";
import type { ResourceClass } from "./resources.ts";
import { PEAK, type SimulationResult } from "./result.ts";
import type { DatabaseSizes, Storage } from "./storage.ts";

/** The highest utilisation at which a database is planned: above it, waits grow fast with the load. */
export const UTILISATION_MAX = 0.6;

/** A layout with its simulation. */
export type Planned = { layout: Layout; result: SimulationResult; sizes: DatabaseSizes };

const STEPS_MAX = 16;

/**
 * Doubles the databases that are too busy or too large, until all are below 60 % of their time at the peak and of their
 * size, or until doubling changes nothing: then one repository or one owner is too much for a database.
 *
 * @returns Each layout that was tried, the last one being the plan.
 */
export function planShards(
  inputs: Inputs,
  storage: Storage,
  from: Layout,
  simulateLayout: (layout: Layout) => SimulationResult,
): Planned[] {
  const tried: Planned[] = [];
  let layout = from;
  for (let step = 0; step < STEPS_MAX; step++) {
    const result = simulateLayout(layout);
    const sizes = storage.sizesOf(layout, dailyRows(result));
    tried.push({ layout, result, sizes });
    const next = { ...layout };
    if (isTooMuch(inputs, result, "first database", sizes.firstBytes)) next.directories *= 2;
    if (isTooMuch(inputs, result, "shard", sizes.shardBytes)) next.shards *= 2;
    if (next.directories === layout.directories && next.shards === layout.shards) break;
    layout = next;
  }
  return tried;
}

export const dailyRows = ({ totals: { events, deliveries } }: SimulationResult) => ({
  events,
  // Events that at least one webhook receives share one payload.
  dispatched: Math.min(events, deliveries),
  deliveries,
});

function isTooMuch(
  { published }: Inputs,
  result: SimulationResult,
  database: "first database" | "shard",
  bytes: number,
): boolean {
  if (bytes > UTILISATION_MAX * published("d1.databaseBytesMax")) return true;
  return (["primary", "replica"] as const).some(
    (copy) => busiestAtPeak(result, `${database}, ${copy}`) > UTILISATION_MAX,
  );
}

export const busiestAtPeak = (result: SimulationResult, of: ResourceClass): number =>
  result.phases.get(PEAK)?.get(of)?.busiest ?? 0;
