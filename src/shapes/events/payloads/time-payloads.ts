import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

const OnIssue = z.object({ issue_id: Int64, number: Int64, is_pull: z.boolean() });
const OfUser = OnIssue.extend({ user_id: Int64 });
const OfTime = OfUser.extend({ time_id: Int64 });

export const TIME_PAYLOADS = {
  "issue.time_added": OfTime,
  "issue.time_deleted": OfTime,
  "issue.times_reset": OfUser,
  "issue.stopwatch_started": OfUser,
  "issue.stopwatch_cancelled": OfUser,
  "issue.estimate_changed": OnIssue.extend({ seconds: Int64 }),
} as const;
