import { z } from "@hono/zod-openapi";

import { WORK_STATES } from "../../../db/schema/index.ts";
import { Int64 } from "../../json.ts";

const Change = { run_id: Int64, state: z.enum(WORK_STATES), attempt: z.int() };

export const WORKFLOW_PAYLOADS = {
  "workflow_run.changed": z.object({ ...Change, number: Int64 }),
  "workflow_job.changed": z.object({ ...Change, job_id: Int64, name: z.string() }),
} as const;
