import { formatCells, formatInteger } from "../support/table.ts";
import type { Growth } from "./growth.ts";
import type { Timing } from "./timing.ts";

/** The measurements of a case, and of the bare route with responses of the same size. */
export type Row = { name: string; bytes: number; timing: Timing; bare: Timing; growth: Growth };

const COLUMNS = [
  "case",
  "req/s",
  "CPU ms",
  "p50 ms",
  "p99 ms",
  "D1 calls",
  "rounds",
  "rows read",
  "at 1/10",
  "ratio",
  "bytes",
  "bare req/s",
  "of bare",
];

/** The rows as a Markdown table. */
export const formatTable = (rows: Row[]): string => formatCells(COLUMNS, rows.map(formatRow));

function formatRow({ name, bytes, timing, bare, growth: { small, full } }: Row): string[] {
  return [
    name,
    formatInteger(timing.perSecond),
    Number.isNaN(timing.cpuMs) ? "-" : timing.cpuMs.toFixed(2),
    timing.p50Ms.toFixed(2),
    timing.p99Ms.toFixed(2),
    formatInteger(full.calls),
    formatInteger(full.rounds),
    formatInteger(full.rowsRead),
    formatInteger(small.rowsRead),
    small.rowsRead === 0 ? "-" : (full.rowsRead / small.rowsRead).toFixed(2),
    formatInteger(bytes),
    formatInteger(bare.perSecond),
    `${((100 * timing.perSecond) / bare.perSecond).toFixed(1)} %`,
  ];
}
