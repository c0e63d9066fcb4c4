import type { TaskStep, WorkResult, WorkState } from "../../../db/schema/index.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";

/** A step as its runner reports it; times in milliseconds. */
export interface StepReport {
  /** The position of the step, from 0. */
  readonly index: number;
  /** Undefined while it runs, and before. */
  readonly result: WorkResult | undefined;
  readonly startedAt: number | undefined;
  readonly stoppedAt: number | undefined;
  readonly logIndex: number;
  readonly logLength: number;
}

/**
 * The steps of a task after a report. Reports may arrive late and in any order: a step that has
 * ended stays so. A report about a step that the job does not have is ignored.
 */
export function withReports(
  steps: readonly TaskStep[],
  reports: readonly StepReport[],
): readonly TaskStep[] {
  const byIndex = new Map(reports.map((report) => [report.index, report]));
  return steps.map((step, at) => {
    const report = byIndex.get(at);
    if (!report || isFinal(step.state)) return step;
    const isOlder = report.result === undefined && report.logLength < step.logLength;
    if (isOlder) return step;
    const startedAt = report.startedAt ?? step.startedAt;
    return {
      name: step.name,
      state: stateOf(report, step.state),
      ...(startedAt !== undefined && { startedAt }),
      ...(report.stoppedAt !== undefined && { stoppedAt: report.stoppedAt }),
      logIndex: report.logIndex,
      logLength: report.logLength,
    };
  });
}

function stateOf({ result, startedAt }: StepReport, before: WorkState): WorkState {
  if (result !== undefined) return result;
  return startedAt === undefined ? before : "running";
}

/** The steps of a task that ends: what runs ends with it, and the rest is not run. */
export const endSteps = (
  steps: readonly TaskStep[],
  result: WorkResult,
  stoppedAt: number,
): readonly TaskStep[] =>
  steps.map((step) => {
    if (isFinal(step.state)) return step;
    if (step.state === "running") return { ...step, state: result, stoppedAt };
    return { ...step, state: result === "cancelled" ? "cancelled" : "skipped" };
  });
