import type { z } from "@hono/zod-openapi";

import type { Workflow } from "../actions/workflow.ts";
import type { WorkflowJob } from "../actions/workflow-job.ts";
import type { WorkflowRun } from "../actions/workflow-run.ts";
import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";

/** What happened to a run or a job, in Gitea's words. */
export type WorkAction = "queued" | "waiting" | "in_progress" | "completed";

interface Common {
  action: WorkAction;
  /** Null for a file that the default branch does not have. */
  workflow: z.infer<typeof Workflow> | null;
  repository: Repository;
  sender: User;
}

/** The payload of the webhook event `workflow_run`. */
export interface WorkflowRunPayload extends Common {
  workflow_run: z.infer<typeof WorkflowRun>;
}

/** The payload of the webhook event `workflow_job`. */
export interface WorkflowJobPayload extends Common {
  workflow_job: z.infer<typeof WorkflowJob>;
}
