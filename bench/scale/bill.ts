import type { Inputs } from "./inputs/read.ts";
import type { Totals } from "./totals.ts";

const DAYS_PER_MONTH = 30;
const MILLION = 1e6;

/** A line of the bill: what a month uses, what of it is included, and what the rest costs. */
export type BillLine = {
  name: string;
  used: number;
  unit: string;
  included: number;
  dollars: number;
};

/** What a month of such days costs, by line. Traffic to clients and out of the bucket is free. */
export function billOf(inputs: Inputs, totals: Totals, databaseBytes: number): BillLine[] {
  const { published, workload } = inputs;
  const { bytes, repositories, users, objects } = workload;
  const objectSeconds = (totals.objectCalls * objects.activeMs) / 1000;
  const daily = (name: string, unit: string, used: number): BillLine =>
    line(inputs, name, unit, used * DAYS_PER_MONTH, MILLION);
  const stored = (name: string, usedBytes: number): BillLine =>
    line(inputs, name, "GB", usedBytes / 1e9, 1);
  return [
    {
      name: "workers.subscription",
      used: 1,
      unit: "month",
      included: 0,
      dollars: published("workers.subscription.price"),
    },
    daily("workers.requests", "requests", totals.requests),
    daily("workers.cpuMs", "ms", totals.cpuMs),
    daily("logs", "lines", totals.logLines),
    daily("d1.rowsRead", "rows", totals.rowsRead),
    daily("d1.rowsWritten", "rows", totals.rowsWritten),
    stored("d1.storage", databaseBytes),
    daily("objects.requests", "calls", totals.objectCalls),
    daily("objects.duration", "GB-s", objectSeconds * published("objects.memoryGb")),
    daily("objects.rowsRead", "rows", totals.objectRowsRead),
    daily("objects.rowsWritten", "rows", totals.objectRowsWritten),
    stored("objects.storage", repositories * bytes.objectPerRepository),
    daily("queues.operations", "operations", totals.queueOperations),
    daily("r2.classA", "operations", totals.r2Writes),
    daily("r2.classB", "operations", totals.r2Reads),
    stored("r2.storage", repositories * bytes.packsPerRepository + users * bytes.packagesPerUser),
  ];
}

/** @param per The number of units that the price is for. */
function line(
  { published }: Inputs,
  name: string,
  unit: string,
  used: number,
  per: number,
): BillLine {
  const included = published(`${name}.included`);
  const dollars = (Math.max(0, used - included) / per) * published(`${name}.price`);
  return { name, used, unit, included, dollars };
}

export const totalOf = (lines: readonly BillLine[]): number =>
  lines.reduce((sum, { dollars }) => sum + dollars, 0);
