import { z } from "@hono/zod-openapi";

import type { Milestone as MilestoneRow } from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";
import { State, stateOf } from "./state.ts";

export const Milestone = z
  .object({
    id: Int64,
    title: z.string(),
    description: z.string(),
    state: State,
    open_issues: Int64,
    closed_issues: Int64,
    created_at: Time,
    updated_at: TimeOrNull,
    closed_at: TimeOrNull,
    due_on: TimeOrNull,
  })
  .openapi("Milestone");
export type Milestone = z.infer<typeof Milestone>;

export const toMilestone = (milestone: MilestoneRow): Milestone => ({
  id: milestone.id,
  title: milestone.title,
  description: milestone.description,
  state: stateOf(milestone),
  open_issues: milestone.openIssueCount,
  closed_issues: milestone.closedIssueCount,
  created_at: formatTime(milestone.createdAt),
  updated_at: formatTime(milestone.updatedAt),
  closed_at: formatTimeOrNull(milestone.closedAt),
  due_on: formatTimeOrNull(milestone.deadlineAt),
});
