import { formatCells, whole } from "../support/table.ts";
import type { Growth } from "./growth.ts";
import type { Timing } from "./timing.ts";

/** A case with all that was measured of it, beside the bare route answering as many bytes. */
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

/** The rows as a table that is Markdown too. */
export const formatTable = (rows: Row[]): string => formatCells(COLUMNS, rows.map(formatRow));

function formatRow({ name, bytes, timing, bare, growth: { small, full } }: Row): string[] {
  return [
    name,
    whole(timing.perSecond),
    Number.isNaN(timing.cpuMs) ? "-" : timing.cpuMs.toFixed(2),
    timing.p50Ms.toFixed(2),
    timing.p99Ms.toFixed(2),
    whole(full.calls),
    whole(full.rounds),
    whole(full.rowsRead),
    whole(small.rowsRead),
    small.rowsRead === 0 ? "-" : (full.rowsRead / small.rowsRead).toFixed(2),
    whole(bytes),
    whole(bare.perSecond),
    `${((100 * timing.perSecond) / bare.perSecond).toFixed(1)} %`,
  ];
}
