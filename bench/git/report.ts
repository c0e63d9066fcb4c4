import { formatCells, formatInteger } from "../support/table.ts";
import type { CaseName } from "./case-names.ts";
import type { Measurement } from "./measure.ts";
import type { Size } from "./sizes.ts";

/**
 * Measurements of a case on both sides; for `fork`, the other side is the creation of an empty
 * repository.
 */
export type Row = {
  size: Size;
  name: CaseName;
  ours: Measurement;
  theirs: Measurement;
  /** The number of received objects; undefined if not counted. */
  objects: { ours: number; theirs: number } | undefined;
};

const COLUMNS = [
  "case",
  "wall s",
  "git",
  "ratio",
  "CPU s",
  "git",
  "ratio",
  "RSS rise MB",
  "peak MB",
  "buffered MB",
  "R2 calls",
  "object calls",
  "objects",
  "git",
];

export const formatTable = (rows: Row[]): string => formatCells(COLUMNS, rows.map(formatRow));

function formatRow({ name, ours, theirs, objects }: Row): string[] {
  const { usage } = ours;
  return [
    name,
    ours.seconds.toFixed(3),
    theirs.seconds.toFixed(3),
    (ours.seconds / theirs.seconds).toFixed(2),
    ours.cpuSeconds.toFixed(2),
    theirs.cpuSeconds.toFixed(2),
    // Below a few clock ticks, a ratio is meaningless.
    theirs.cpuSeconds < 0.05 ? "-" : (ours.cpuSeconds / theirs.cpuSeconds).toFixed(2),
    megabytes(ours.riseBytes),
    megabytes(ours.peakBytes),
    megabytes(usage?.bufferedBytes),
    usage ? formatInteger(usage.r2Calls) : "-",
    usage ? formatInteger(usage.objectCalls) : "-",
    objects ? formatInteger(objects.ours) : "-",
    objects ? formatInteger(objects.theirs) : "-",
  ];
}

const megabytes = (bytes: number | undefined): string =>
  bytes === undefined ? "-" : (bytes / 1e6).toFixed(1);
