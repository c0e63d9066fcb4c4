import { percentile } from "../support/statistics.ts";
import { formatCells, formatInteger } from "../support/table.ts";
import type { Measured } from "./measure.ts";

/** The measurements of a case. */
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
  "D1 dispatch",
  "D1 delivery",
  "per delivery",
  "CPU ms",
];

/** A Markdown table. D1 calls are per event; the last of these columns is per delivery. */
export function formatReports(reports: readonly Report[]): string {
  const lines = reports.map(({ name, measured }) => {
    const { events, deliveries, seconds, fromAnswerMs, fromRequestMs, d1, cpuSeconds } = measured;
    return [
      name,
      formatInteger(events),
      formatInteger(deliveries),
      (events / seconds).toFixed(1),
      (deliveries / seconds).toFixed(1),
      ...[fromAnswerMs, fromRequestMs].flatMap((delays) => [
        delays.length > 0 ? percentile(delays, 0.5).toFixed(1) : "-",
        delays.length > 0 ? percentile(delays, 0.99).toFixed(1) : "-",
      ]),
      (d1.request / events).toFixed(1),
      (d1.dispatch / events).toFixed(1),
      (d1.deliver / events).toFixed(1),
      deliveries > 0 ? (d1.deliver / deliveries).toFixed(2) : "-",
      ((1000 * cpuSeconds) / events).toFixed(1),
    ];
  });
  return formatCells(COLUMNS, lines);
}

/** The ratio of one case's delay from the response to another's. */
export function compare(name: string, one: Measured, other: Measured): string {
  const ratio = (share: number): string =>
    (percentile(one.fromAnswerMs, share) / percentile(other.fromAnswerMs, share)).toFixed(2);
  return `${name}: p50 ${ratio(0.5)}, p99 ${ratio(0.99)}`;
}
