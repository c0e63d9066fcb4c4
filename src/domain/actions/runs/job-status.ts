import type { CommitState, WorkState } from "../../../db/schema/index.ts";
import { formatGoDuration } from "../../../lib/go-duration.ts";

const STATES: Readonly<Record<WorkState, CommitState>> = {
  blocked: "pending",
  waiting: "pending",
  running: "pending",
  success: "success",
  failure: "failure",
  cancelled: "failure",
  skipped: "skipped",
};

/** Events whose runs report commit statuses, as in Gitea. */
const REPORTED = new Set(["push", "pull_request", "pull_request_target", "release"]);

/** Whether the runs of an event report their jobs as statuses of the commit. */
export const isReported = (event: string): boolean =>
  REPORTED.has(event) || event.startsWith("pull_request_review");

interface Work {
  readonly state: WorkState;
  readonly startedAt: number | null;
  readonly stoppedAt: number | null;
}

/** The state and the description of the commit status of a job. */
export function statusOf({ state, startedAt, stoppedAt }: Work): {
  readonly state: CommitState;
  readonly description: string;
} {
  const ms = startedAt === null || stoppedAt === null ? 0 : stoppedAt - startedAt;
  const duration = formatGoDuration(Math.max(0, Math.round(ms / 1000)));
  const descriptions: Readonly<Record<WorkState, string>> = {
    blocked: "Blocked by required conditions",
    waiting: "Waiting to run",
    running: "Has started running",
    success: `Successful in ${duration}`,
    failure: `Failing after ${duration}`,
    cancelled: "Has been cancelled",
    skipped: "Has been skipped",
  };
  return { state: STATES[state], description: descriptions[state] };
}
