import { z } from "zod";

import { Works } from "./work.ts";

const Tally = z.object({ passed: z.number(), failed: z.number(), skipped: z.number() });

/** The numbers of passed, failed and skipped tests of a run. */
export type Tally = z.infer<typeof Tally>;

const RunReport = z.object({
  tally: Tally,
  /** Processor time of each file, in milliseconds. */
  cpuMs: z.record(z.string(), z.number()),
  /** The files that did not pass, which have counted a part of their work. */
  failedFiles: z.array(z.string()),
  works: Works,
});

/** What one process of a run reports. */
export type RunReport = z.infer<typeof RunReport>;

/** The last line of a run: `12 passed, 0 failed`, and `, 3 skipped` if any were. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped > 0 ? `${line}, ${skipped} skipped` : line;
}

/** @returns undefined for text that is not the JSON of a report. */
export function parseReport(json: string): RunReport | undefined {
  try {
    return RunReport.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** The combined report of the processes of a run. */
export function mergeReports(reports: readonly RunReport[]): RunReport {
  const total = (key: keyof Tally): number =>
    reports.reduce((sum, { tally }) => sum + tally[key], 0);
  return {
    tally: { passed: total("passed"), failed: total("failed"), skipped: total("skipped") },
    cpuMs: Object.assign({}, ...reports.map(({ cpuMs }) => cpuMs)),
    failedFiles: reports.flatMap(({ failedFiles }) => failedFiles),
    works: Object.assign({}, ...reports.map(({ works }) => works)),
  };
}

const SLOWEST_MAX = 20;

/** A table of the slowest files, for `npm test -- --slowest`. */
export function slowestFiles({ cpuMs }: RunReport): string {
  const all = Object.entries(cpuMs).toSorted(([, one], [, other]) => other - one);
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(7)} s`;
  const total = all.reduce((sum, [, ms]) => sum + ms, 0);
  return [
    ...all.slice(0, SLOWEST_MAX).map(([file, ms]) => `${seconds(ms)}  ${file}`),
    `${seconds(total)}  all ${all.length} files, without what starts and loads them`,
  ].join("\n");
}
