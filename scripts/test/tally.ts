import { z } from "zod";

import { Costs } from "./ledger.ts";
import { Works } from "./work.ts";

const Tally = z.object({ passed: z.number(), failed: z.number(), skipped: z.number() });

/** The numbers of passed, failed and skipped tests of a run. */
export type Tally = z.infer<typeof Tally>;

const RunReport = z.object({
  tally: Tally,
  costs: Costs,
  /** The files that did not pass, whose costs are those of a part. */
  failedFiles: z.array(z.string()),
  works: Works,
});

/** The counts and costs of one process of a run. */
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
    costs: Object.assign({}, ...reports.map(({ costs }) => costs)),
    failedFiles: reports.flatMap(({ failedFiles }) => failedFiles),
    works: Object.assign({}, ...reports.map(({ works }) => works)),
  };
}
