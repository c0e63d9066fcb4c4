import type { Ctx } from "../../../context.ts";
import type { WorkflowFault } from "../../../db/schema/index.ts";
import { type PlannedJob, planJobs } from "../workflow/plan-jobs.ts";
import type { Workflow } from "../workflow/workflow.ts";
import type { NewRun } from "./insert-run.ts";
import { runContext, type RunFacts } from "./run-context.ts";

/** A run that is not stored yet, with its jobs. */
export interface PlannedRun {
  readonly run: NewRun;
  readonly jobs: readonly PlannedJob[];
}

/** What a run has besides what its workflow says. */
export type RunBase = Omit<NewRun, "name" | "title" | "path" | "pullNumber" | "baseBranch"> &
  Pick<RunFacts["run"], "pullNumber" | "baseBranch">;

const TITLE_MAX = 255;
const GROUP_MAX = 255;

/**
 * Plans a run: what its workflow says of its title, group and jobs. Where that can't be evaluated,
 * the run has the faults instead of jobs.
 *
 * @param title The title of a workflow that has none.
 * @param inputs Of a run that somebody starts by hand.
 */
export async function planRun(
  ctx: Pick<Ctx, "publicUrl">,
  workflow: Workflow,
  base: RunBase,
  repo: Omit<RunFacts, "run">,
  {
    title,
    vars,
    inputs,
  }: {
    readonly title: string;
    readonly vars: Readonly<Record<string, string>>;
    readonly inputs?: object;
  },
): Promise<PlannedRun> {
  const run = { ...base, path: workflow.path, name: workflow.name, title };
  const github = runContext(ctx, { run, ...repo });
  const contexts = { github, vars, ...(inputs && { inputs }) };
  const planned = await planJobs(workflow, contexts);
  if ("faults" in planned) return faultyRun(run, planned.faults);
  return {
    run: {
      ...run,
      title: (planned.title || title).slice(0, TITLE_MAX).toWellFormed(),
      concurrencyGroup: planned.group.slice(0, GROUP_MAX).toWellFormed(),
      cancelsInProgress: planned.cancelsInProgress,
    },
    jobs: planned.jobs,
  };
}

/** A run of a workflow that can't be run. */
export const faultyRun = (run: NewRun, faults: readonly WorkflowFault[]): PlannedRun => ({
  run: { ...run, title: run.title.slice(0, TITLE_MAX).toWellFormed(), faults },
  jobs: [],
});
