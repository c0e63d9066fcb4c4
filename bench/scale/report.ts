import { formatCells, formatInteger } from "../support/table.ts";
import { type BillLine, totalOf } from "./bill.ts";
import type { Inputs } from "./inputs/read.ts";
import { CLASSES, type ResourceClass } from "./resources.ts";
import { busiestAtPeak, type SimulationResult } from "./result.ts";

const percent = (share: number): string => `${formatInteger(100 * share)} %`;
const tenths = (share: number): string => `${(100 * share).toFixed(1)} %`;
const milliseconds = (ms: number): string => (ms < 100 ? ms.toFixed(1) : formatInteger(ms));
const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

/** Utilisation and waits of each class of resources, at the peak or in a burst. */
export function formatUse({ phases }: SimulationResult, phase: string): string {
  const classes = phases.get(phase);
  const lines = CLASSES.flatMap((of) => {
    const use = classes?.get(of);
    if (!use || use.waits.count + use.refused === 0) return [];
    return [
      [
        of,
        percent(use.busiest),
        percent(use.mean),
        milliseconds(use.waits.quantile(0.5)),
        milliseconds(use.waits.quantile(0.99)),
        percent(use.refused / (use.refused + use.waits.count)),
      ],
    ];
  });
  return formatCells(["resource", "busiest", "mean", "wait p50 ms", "p99 ms", "refused"], lines);
}

/** Response times at the peak, by kind of request. */
export function formatResponses({ responses }: SimulationResult): string {
  const lines = [...responses].map(([kind, histogram]) => [
    kind,
    formatInteger(histogram.count),
    milliseconds(histogram.quantile(0.5)),
    milliseconds(histogram.quantile(0.99)),
  ]);
  return formatCells(["request at the peak", "simulated", "p50 ms", "p99 ms"], lines);
}

/** The busiest resource of each class, as the load grows. */
export function formatScales(results: readonly SimulationResult[]): string {
  const lines = results.map((result) => [
    `${result.options.scale}x${result.options.hasReplicas ? ", with replicas" : ""}`,
    ...COMPARED.map(({ of }) => percent(busiestAtPeak(result, of))),
    tenths(result.kept.guard / result.kept.requests),
    tenths(result.kept.answer / result.kept.requests),
    percent(result.refused / result.arrived),
    firstSaturated(result) ?? "-",
  ]);
  return formatCells(
    ["load", ...COMPARED.map(({ head }) => head), "guards", "answers", "refused", "most saturated"],
    lines,
  );
}

const COMPARED: { of: ResourceClass; head: string }[] = [
  { of: "database, primary", head: "database" },
  { of: "database, replica", head: "its replicas" },
  { of: "object of a repository", head: "object" },
  { of: "queue of events", head: "events" },
  { of: "queue of deliveries", head: "deliveries" },
];

/**
 * The highest utilisation that is not called saturated: above it, waits grow fast with the load.
 */
const UTILISATION_MAX = 0.6;

/** The class whose busiest member is the busiest of all, if that is saturated. */
function firstSaturated(result: SimulationResult): ResourceClass | undefined {
  const busiest = CLASSES.toSorted(
    (a, b) => busiestAtPeak(result, b) - busiestAtPeak(result, a),
  )[0];
  return busiest && busiestAtPeak(result, busiest) > UTILISATION_MAX ? busiest : undefined;
}

/** The size of the database, and how many repositories would fill it. */
export function describeSize({ published, workload }: Inputs, bytes: number): string {
  const max = published("d1.databaseBytesMax");
  const repositories = formatInteger((workload.repositories * max) / bytes);
  return `the database: ${gigabytes(bytes)} GB of at most ${gigabytes(max)}, which ${repositories} repositories fill`;
}

/** The bill of a month. */
export function formatBill(lines: readonly BillLine[]): string {
  const cells = lines.map(({ name, used, unit, included, dollars }) => [
    name,
    `${quantity(used)} ${unit}`,
    quantity(included),
    formatInteger(dollars),
  ]);
  return formatCells(
    ["line of the bill", "used in a month", "included", "USD"],
    [...cells, ["total", "", "", formatInteger(totalOf(lines))]],
  );
}

function quantity(value: number): string {
  for (const [size, name] of [
    [1e9, "G"],
    [1e6, "M"],
  ] as const)
    if (value >= size) return `${(value / size).toFixed(1)} ${name}`;
  return formatInteger(value);
}

export const describeDay = ({ totals }: SimulationResult): string =>
  [
    `a day: ${quantity(totals.requests)} requests, ${quantity(totals.d1Calls)} calls of D1,`,
    `${quantity(totals.events)} events, ${quantity(totals.deliveries)} deliveries,`,
    `${quantity(totals.objectCalls)} calls of objects, ${quantity(totals.r2Reads)} reads of the bucket;`,
    `${quantity(totals.overCpu)} requests over the limit of CPU time, ${quantity(totals.overBody)} bodies over the limit`,
  ].join(" ");

/** From the start of the request to the answer of the receiver, by phase. */
export function formatDeliveries({ deliveries }: SimulationResult): string {
  const lines = [...deliveries].map(([phase, histogram]) => [
    phase,
    formatInteger(histogram.count),
    milliseconds(histogram.quantile(0.5)),
    milliseconds(histogram.quantile(0.99)),
  ]);
  return formatCells(["deliveries", "simulated", "p50 ms", "p99 ms"], lines);
}
