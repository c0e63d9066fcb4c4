import type { WorkState } from "../../db/schema/index.ts";

/** Changes of the runs of workflows, and of their jobs. */
export type WorkflowEvent =
  | {
      type: "workflow_run.changed";
      repoId: number;
      ownerId: number;
      runId: number;
      number: number;
      /** The state that it has now. */
      state: WorkState;
      attempt: number;
    }
  | {
      type: "workflow_job.changed";
      repoId: number;
      ownerId: number;
      runId: number;
      jobId: number;
      name: string;
      state: WorkState;
      attempt: number;
    };
