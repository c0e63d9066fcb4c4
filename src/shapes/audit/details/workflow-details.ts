import { z } from "@hono/zod-openapi";

/** Workflows, by their files, and their runs. */
export const WORKFLOW_DETAILS = {
  "workflow.edited": z.object({ isDisabled: z.boolean() }),
  "workflow_artifact.deleted": z.object({ runId: z.int(), artifactId: z.int() }),
  "workflow_run.deleted": z.object({ runId: z.int() }),
} as const;
