import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

const OnIssue = z.object({ issue_id: Int64, number: Int64, is_pull: z.boolean(), user_id: Int64 });
const OfTime = OnIssue.extend({ time_id: Int64 });

export const TIME_PAYLOADS = {
  "issue.time_added": OfTime,
  "issue.time_deleted": OfTime,
  "issue.times_reset": OnIssue,
  "issue.stopwatch_started": OnIssue,
  "issue.stopwatch_cancelled": OnIssue,
} as const;
