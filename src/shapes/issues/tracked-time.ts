import { z } from "@hono/zod-openapi";

import type { TrackedTime as TrackedTimeRow, User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import type { Viewer } from "../viewer.ts";
import { Issue, type IssueContext, toIssue } from "./issue.ts";

export const TrackedTime = z
  .object({
    id: Int64,
    created: Time,
    time: Int64.openapi({ description: "In seconds" }),
    user_id: Int64.openapi({ deprecated: true }),
    user_name: z.string(),
    issue_id: Int64.openapi({ deprecated: true }),
    issue: Issue.nullable(),
  })
  .openapi("TrackedTime");
export type TrackedTime = z.infer<typeof TrackedTime>;

/** Booked time as queries return it. */
export interface TrackedTimeContext {
  readonly row: TrackedTimeRow;
  readonly user: UserRow;
  readonly issue: IssueContext | undefined;
}

export const toTrackedTime = (
  { row, user, issue }: TrackedTimeContext,
  viewer: Viewer,
): TrackedTime => ({
  id: row.id,
  created: formatTime(row.createdAt),
  time: row.seconds,
  user_id: row.userId,
  user_name: user.name,
  issue_id: row.issueId,
  issue: issue ? toIssue(issue, viewer) : null,
});
