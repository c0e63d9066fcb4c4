import { writeFileSync } from "node:fs";

import { z } from "zod";

import { Refusal } from "../../scripts/refusal.ts";
import { COSTS_FILE, type Costs } from "./inputs/read.ts";
import type { Measured } from "./measure/measured.ts";

export const MEASURE_COMMAND = "npm run bench:scale -- --measure";

/** A figure that another benchmark prints in a Markdown table. */
type Printed = {
  command: string;
  /** Text of a line before the table, where the command prints several alike. */
  after?: string;
  /** The beginnings of the first cells of the row. */
  row: string[];
  column: string;
  name: string;
  unit: string;
  factor?: number;
};

/** Megabytes of the medium repository of the benchmarks of git. */
const MEDIUM_MB = 182;

const PRINTED: Printed[] = [
  ...["user", "repository", "search"].flatMap((kind): Printed[] => {
    const row = [kind === "search" ? "search, rare word" : kind];
    const command = "npm run bench:api";
    return [
      { command, row, column: "CPU ms", name: `${kind}.cpuMs`, unit: "ms/request" },
      { command, row, column: "D1 calls", name: `${kind}.d1Calls`, unit: "calls/request" },
      { command, row, column: "rows read", name: `${kind}.rowsRead`, unit: "rows/request" },
    ];
  }),
  {
    command: "npm run bench:git -- --sizes medium",
    after: "medium",
    row: ["one-pack"],
    column: "CPU s",
    name: "clone.cpuMsPerMb",
    unit: "ms/MB",
    factor: 1000 / MEDIUM_MB,
  },
  {
    command: "npm run bench:git -- --sizes medium",
    after: "medium",
    row: ["push"],
    column: "CPU s",
    name: "push.cpuMsPerMb",
    unit: "ms/MB",
    factor: 1000 / MEDIUM_MB,
  },
  {
    command: "npm run bench:events",
    row: ["100 hooks, in a row"],
    column: "per delivery",
    name: "delivery.d1Calls",
    unit: "calls/delivery",
  },
  {
    command: "npm run bench:mirrors",
    row: ["medium", "nothing new"],
    column: "CPU s",
    name: "mirror.cpuMs",
    unit: "ms/synchronization",
    factor: 1000,
  },
];

const Figures = z.array(z.strictObject({ name: z.string(), value: z.number(), unit: z.string() }));

/**
 * The figures in the output of a benchmark: the JSON of a measurement, or the tables of
 * `bench:api`, `bench:git`, `bench:events` and `bench:mirrors`.
 *
 * @throws Refusal if it has none.
 */
export function readFigures(text: string): Costs {
  if (text.trimStart().startsWith("["))
    return toCosts(Figures.parse(JSON.parse(text)), MEASURE_COMMAND);
  const rows = readTables(text);
  const found = PRINTED.flatMap(({ command, name, unit, factor = 1, ...where }) => {
    const value = findCell(rows, where);
    return value === undefined ? [] : [[name, { value: round(value * factor), unit, command }]];
  });
  if (found.length === 0) throw new Refusal("--from: the file has none of the known figures");
  return Object.fromEntries(found);
}

export const toCosts = (figures: Measured[], command: string): Costs =>
  Object.fromEntries(
    figures.map(({ name, value, unit }) => [name, { value: round(value), unit, command }]),
  );

/** Replaces the figures of inputs/costs.json that are given, and keeps the others. */
export function recordCosts(kept: Costs, given: Costs): void {
  const all = Object.entries({ ...kept, ...given }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(COSTS_FILE, `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`);
}

const round = (value: number): number => Number(value.toPrecision(4));

type Row = { cells: string[]; columns: string[]; before: string };

/**
 * The rows of all Markdown tables, with the heads of their columns and the last line of text before
 * the table.
 */
function readTables(text: string): Row[] {
  const rows: Row[] = [];
  let columns: string[] | undefined;
  let before = "";
  for (const line of text.split("\n")) {
    const cells = line.trim().startsWith("|") ? cellsOf(line) : undefined;
    if (!cells) {
      columns = undefined;
      if (line.trim() !== "") before = line;
    } else if (!columns) columns = cells;
    else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) rows.push({ cells, columns, before });
  }
  return rows;
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());

function findCell(
  rows: Row[],
  { after = "", row, column }: Pick<Printed, "after" | "row" | "column">,
) {
  const found = rows.find(
    ({ cells, columns, before }) =>
      columns.includes(column) &&
      before.includes(after) &&
      row.every((beginning, at) => cells[at] === beginning),
  );
  const value = Number(found?.cells[found.columns.indexOf(column)]?.replaceAll(",", ""));
  return Number.isFinite(value) && found ? value : undefined;
}
