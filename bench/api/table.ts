import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

import type { Growth } from "./growth.ts";
import type { Timing } from "./timing.ts";

/** A case with all that was measured of it, beside the bare route answering as many bytes. */
export type Row = { name: string; bytes: number; timing: Timing; bare: Timing; growth: Growth };

const COLUMNS = [
  "case",
  "req/s",
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
export function formatTable(rows: Row[]): string {
  const cells = [COLUMNS, ...rows.map(formatRow)];
  const widths = COLUMNS.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const [head = "", ...lines] = cells.map(
    (row) => `| ${row.map((cell, at) => pad(cell, widths[at] ?? 0, at)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width, at) => (at === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [head, rule, ...lines].join("\n");
}

const pad = (cell: string, width: number, at: number): string =>
  at === 0 ? cell.padEnd(width) : cell.padStart(width);

function formatRow({ name, bytes, timing, bare, growth: { small, full } }: Row): string[] {
  return [
    name,
    whole(timing.perSecond),
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

const whole = (value: number): string => Math.round(value).toLocaleString("en");

/** The machine, in a line, and how busy it is before anything is measured. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const memory = Math.round(totalmem() / 2 ** 30);
  const [load = 0] = loadavg();
  return `${availableParallelism()} cores (${model}), ${memory} GiB, Node ${process.versions.node}, ${process.platform} ${process.arch}, load ${load.toFixed(1)}`;
}
