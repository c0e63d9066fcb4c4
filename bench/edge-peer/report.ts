import type { Measurement } from "../git/measure.ts";
import { median } from "../support/statistics.ts";
import { formatCells } from "../support/table.ts";
import type { EdgeForge } from "./forge.ts";

/** A measurement of one run of a case on one side. */
export type Sample = Pick<Measurement, "seconds" | "cpuSeconds"> & {
  caseName: string;
  forge: EdgeForge;
  /** The size of the pack that was received; undefined if it was not counted. */
  bytes: number | undefined;
};

/** A table of the medians of each case, with the ratios of the first to the second service. */
export function formatTable(samples: Sample[], [ours, theirs]: readonly [EdgeForge, EdgeForge]) {
  const names = [...new Set(samples.map(({ caseName }) => caseName))];
  const lines = names.map((name) => {
    const middle = (forge: EdgeForge, of: (sample: Sample) => number | undefined): number =>
      median(
        samples
          .filter((sample) => sample.caseName === name && sample.forge === forge)
          .flatMap((sample) => of(sample) ?? []),
      );
    const compare = (of: (sample: Sample) => number | undefined, digits: number): string[] => {
      const [own, other] = [middle(ours, of), middle(theirs, of)];
      return [own.toFixed(digits), other.toFixed(digits), (own / other).toFixed(2)];
    };
    return [
      name,
      ...compare(({ cpuSeconds }) => 1000 * cpuSeconds, 0),
      ...compare(({ seconds }) => seconds, 2),
      ...compare(({ bytes }) => bytes && bytes / 1e6, 1),
      ...compare(({ bytes, cpuSeconds }) => bytes && (1e9 * cpuSeconds) / bytes, 1),
    ].map((cell) => (cell === "NaN" ? "" : cell));
  });
  const head = [
    "case",
    ...["CPU ms", "time s", "MB", "CPU ms per MB"].flatMap((unit) => [unit, theirs.name, "ratio"]),
  ];
  return formatCells(head, lines);
}
