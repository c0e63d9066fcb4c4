import { z } from "@hono/zod-openapi";

/** Workflows, by their files, and their runs. */
export const WORKFLOW_DETAILS = {
  "workflow.edited": z.object({ isDisabled: z.boolean() }),
  "workflow_run.deleted": z.object({ runId: z.int() }),
} as const;
