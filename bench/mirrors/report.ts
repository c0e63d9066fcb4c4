import { type Measurement, summarize } from "../git/measure.ts";
import { formatCells } from "../support/table.ts";

const COLUMNS = [
  "size",
  "case",
  "wall s",
  "git s",
  "ratio",
  "CPU s",
  "git CPU s",
  "ratio",
  "memory MB",
];

/** The measurements of a case, one per run. */
export type Row = { size: string; name: string; ours: Measurement[]; theirs: Measurement[] };

/** Medians beside git's, with the ratios that the goals are about. */
export const formatReport = (rows: Row[]): string =>
  formatCells(
    COLUMNS,
    rows.map(({ size, name, ours, theirs }) => [
      size,
      name,
      ...describe(summarize(ours), summarize(theirs)),
    ]),
  );

function describe(ours: Measurement, theirs: Measurement): string[] {
  const megabytes = (bytes: number | undefined): string =>
    bytes === undefined ? "-" : (bytes / 1e6).toFixed(0);
  return [
    ours.seconds.toFixed(2),
    theirs.seconds.toFixed(2),
    (ours.seconds / theirs.seconds).toFixed(2),
    ours.cpuSeconds.toFixed(2),
    theirs.cpuSeconds.toFixed(2),
    (ours.cpuSeconds / theirs.cpuSeconds).toFixed(2),
    megabytes(ours.riseBytes),
  ];
}
