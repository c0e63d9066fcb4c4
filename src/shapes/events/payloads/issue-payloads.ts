import { z } from "@hono/zod-openapi";

import { Int64 } from "../../json.ts";

/** The issue or pull request that an event is about. */
const OfIssue = z.object({ issue_id: Int64, number: Int64, is_pull: z.boolean() });

const StateChange = OfIssue.extend({
  commit_oid: z.string().openapi({ description: "The commit whose message did it; or empty" }),
});
const Former = z
  .object({ title: z.string().optional(), ref: z.string().optional() })
  .openapi({ description: "The former title and ref, if they were changed" });
const Assignment = OfIssue.extend({ user_id: Int64 });
const MilestoneChange = OfIssue.extend({ milestone_id: Int64 });
const OfComment = OfIssue.extend({ comment_id: Int64 });

/**
 * SECURITY: former texts of issues and comments are omitted, and so are the stored payloads for
 * webhooks: authors remove by edits and deletions what others should not read.
 */
export const ISSUE_PAYLOADS = {
  "issue.opened": OfIssue,
  "issue.closed": StateChange,
  "issue.reopened": StateChange,
  "issue.edited": OfIssue.extend({ from: Former }),
  "issue.deleted": OfIssue,
  "issue.assigned": Assignment,
  "issue.unassigned": Assignment,
  "issue.labeled": OfIssue.extend({ added: z.array(Int64), removed: z.array(Int64) }),
  "issue.labels_cleared": OfIssue,
  "issue.milestoned": MilestoneChange,
  "issue.demilestoned": MilestoneChange,
  "issue.dependency_added": OfIssue.extend({ blocker_id: Int64 }),
  "issue.dependency_removed": OfIssue.extend({ blocker_id: Int64 }),
  "issue.locked": OfIssue,
  "issue.unlocked": OfIssue,
  "issue.pinned": OfIssue,
  "issue.unpinned": OfIssue,
  "issue.deadline_changed": OfIssue.extend({ deadline_at: Int64.nullable() }),
  "comment.created": OfComment,
  "comment.edited": OfComment,
  "comment.deleted": OfComment,
} as const;
