import type { TaskStep, WorkState } from "../../../db/schema/index.ts";
import type { ShownTask } from "../../../domain/actions/runs/read-run.ts";

/** A part of a log: what comes before the steps of a job, a step, or what comes after them. */
export interface LogSection {
  /** 0 before the steps, which count from 1. */
  readonly index: number;
  readonly name: string;
  readonly state: WorkState;
  readonly startedAt?: number;
  readonly stoppedAt?: number;
  /** In the log, from 0. */
  readonly firstRow: number;
  readonly rowCount: number;
}

type LoggedTask = Pick<ShownTask, "state" | "steps" | "logRows">;

const hasBegun = ({ startedAt, logLength }: TaskStep): boolean =>
  startedAt !== undefined || logLength > 0;

/**
 * The parts of the log of a task. What a runner says of its steps is a claim: no part reaches
 * beyond the log.
 */
export function toSections({ state, steps, logRows }: LoggedTask): LogSection[] {
  const isRunning = state === "running";
  const clip = (row: number): number => Math.min(Math.max(row, 0), logRows);
  const begun = steps.filter(hasBegun);
  const last = begun.at(-1);
  const first = clip(begun[0]?.logIndex ?? logRows);
  const end = last ? clip(last.logIndex + last.logLength) : logRows;
  const setUp = begun.length > 0 ? "success" : state;
  return [
    { index: 0, name: "Set up job", state: setUp, firstRow: 0, rowCount: first },
    ...steps.map((step, at): LogSection => {
      const { name, startedAt, stoppedAt, logIndex, logLength } = step;
      const from = clip(logIndex);
      const to = step === last && isRunning ? logRows : clip(logIndex + logLength);
      return {
        index: at + 1,
        name,
        state: step.state,
        ...(startedAt !== undefined && { startedAt }),
        ...(stoppedAt !== undefined && { stoppedAt }),
        firstRow: from,
        rowCount: hasBegun(step) ? Math.max(0, to - from) : 0,
      };
    }),
    ...(!isRunning && end < logRows
      ? [
          {
            index: steps.length + 1,
            name: "Complete job",
            state,
            firstRow: end,
            rowCount: logRows - end,
          },
        ]
      : []),
  ];
}
