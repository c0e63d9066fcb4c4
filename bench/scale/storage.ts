import type { Inputs } from "./inputs/read.ts";
import type { SimulationResult } from "./result.ts";

/** Rows that a day adds. */
export type DailyRows = { events: number; dispatched: number; deliveries: number };

export const dailyRows = ({ totals: { events, deliveries } }: SimulationResult): DailyRows => ({
  events,
  // Events that at least one webhook receives share one payload.
  dispatched: Math.min(events, deliveries),
  deliveries,
});

/** The size of the database, from the rows of the workload and the measured bytes of each. */
export function databaseBytes({ workload, cost }: Inputs, rows: DailyRows): number {
  return Object.entries(workload.stored).reduce((sum, [table, count]) => {
    const rowCount =
      "perUser" in count
        ? count.perUser * workload.users
        : "perRepository" in count
          ? count.perRepository * workload.repositories
          : rows[count.perDay] * count.days;
    return sum + rowCount * cost(`bytes.${table}`);
  }, 0);
}
