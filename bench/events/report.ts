import { formatCells, whole } from "../support/table.ts";
import type { Measured } from "./measure.ts";

/** What was measured, by the name of its case. */
export type Report = { name: string; measured: Measured };

const COLUMNS = [
  "case",
  "events",
  "deliveries",
  "events/s",
  "deliveries/s",
  "answer p50 ms",
  "p99 ms",
  "request p50 ms",
  "p99 ms",
  "D1 request",
  "D1 teller",
  "D1 deliverer",
  "a delivery",
  "CPU ms",
];

/** A table that is Markdown too. D1 is by event; its last column by delivery. */
export function formatReports(reports: readonly Report[]): string {
  const lines = reports.map(({ name, measured }) => {
    const { events, deliveries, seconds, fromAnswerMs, fromRequestMs, d1, cpuSeconds } = measured;
    return [
      name,
      whole(events),
      whole(deliveries),
      (events / seconds).toFixed(1),
      (deliveries / seconds).toFixed(1),
      ...[fromAnswerMs, fromRequestMs].flatMap((delays) => [
        delays.length > 0 ? percentile(delays, 0.5).toFixed(1) : "-",
        delays.length > 0 ? percentile(delays, 0.99).toFixed(1) : "-",
      ]),
      (d1.request / events).toFixed(1),
      (d1.tell / events).toFixed(1),
      (d1.deliver / events).toFixed(1),
      deliveries > 0 ? (d1.deliver / deliveries).toFixed(2) : "-",
      ((1000 * cpuSeconds) / events).toFixed(1),
    ];
  });
  return formatCells(COLUMNS, lines);
}

/** How the delay from the answer of one case stands to that of another. */
export function compare(name: string, one: Measured, other: Measured): string {
  const ratio = (share: number): string =>
    (percentile(one.fromAnswerMs, share) / percentile(other.fromAnswerMs, share)).toFixed(2);
  return `${name}: p50 ${ratio(0.5)}, p99 ${ratio(0.99)}`;
}

/** @param sorted In ascending order. */
const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
