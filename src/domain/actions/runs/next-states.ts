import type { WorkflowJob, WorkState } from "../../../db/schema/index.ts";
import { isFinal } from "../../../shapes/actions/work-status.ts";

/** What decides about the next state of a job. */
export type JobFacts = Pick<
  WorkflowJob,
  | "id"
  | "jobId"
  | "needs"
  | "state"
  | "hasCondition"
  | "continuesOnError"
  | "maxParallel"
  | "failsFast"
>;

/** Whether a job failed, and its failure counts. */
const hasFailed = ({ state, continuesOnError }: JobFacts): boolean =>
  state === "failure" && !continuesOnError;

/**
 * The states that the jobs of a run get next, by their ids: blocked ones wait for a runner once
 * what they need has ended, or are skipped; the rest of a matrix is cancelled with the first
 * failure.
 *
 * A job with an `if` waits for a runner also where something that it needs failed, since the runner
 * evaluates the condition.
 *
 * @param isHeld Whether no job may begin.
 */
export function nextStates(jobs: readonly JobFacts[], isHeld: boolean): Map<number, WorkState> {
  const states = new Map(jobs.map(({ id, state }) => [id, state]));
  const stateOf = ({ id }: JobFacts): WorkState => states.get(id) as WorkState;
  const byKey = Map.groupBy(jobs, ({ jobId }) => jobId);
  const isGood = (job: JobFacts): boolean =>
    stateOf(job) === "success" || (stateOf(job) === "failure" && job.continuesOnError);

  for (const matrix of byKey.values()) {
    const isEnded = matrix.length > 1 && matrix.some((job) => job.failsFast && hasFailed(job));
    for (const job of isEnded ? matrix : []) {
      if (!isFinal(job.state)) states.set(job.id, "cancelled");
    }
  }
  let hasChanged = !isHeld;
  while (hasChanged) {
    hasChanged = false;
    for (const job of jobs) {
      if (stateOf(job) !== "blocked") continue;
      const needed = job.needs.flatMap((key) => byKey.get(key) ?? []);
      if (!needed.every((each) => isFinal(stateOf(each)))) continue;
      const isRun = job.hasCondition || needed.every(isGood);
      const siblings = byKey.get(job.jobId) ?? [];
      const active = siblings.filter((each) => ["waiting", "running"].includes(stateOf(each)));
      if (isRun && active.length >= (job.maxParallel ?? Infinity)) continue;
      states.set(job.id, isRun ? "waiting" : "skipped");
      hasChanged = true;
    }
  }
  for (const job of jobs) if (stateOf(job) === job.state) states.delete(job.id);
  return states;
}
