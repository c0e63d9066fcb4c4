import { z } from "@hono/zod-openapi";

import { DEQUEUE_REASONS } from "../../../db/schema/index.ts";
import { Int64 } from "../../json.ts";

/** The pull request that an event is about. */
const OfPull = z.object({ issue_id: Int64, number: Int64 });

const Asked = OfPull.extend({ user_id: Int64.nullable(), team_id: Int64.nullable() });
const OfReview = OfPull.extend({ review_id: Int64 });
const OfConversation = OfPull.extend({ comment_id: Int64 });

export const PULL_PAYLOADS = {
  "pull.synchronized": OfPull.extend({
    before: z.string(),
    after: z.string(),
    is_forced: z.boolean(),
    commit_count: Int64,
  }),
  "pull.merged": OfPull.extend({
    merge_commit_oid: z.string(),
    merge_kind: z.string(),
    is_automatic: z.boolean(),
  }),
  "pull.retargeted": OfPull.extend({ from: z.string(), to: z.string() }),
  "pull.ready": OfPull,
  "pull.review_requested": Asked,
  "pull.review_request_removed": Asked,
  "pull.merge_scheduled": OfPull,
  "pull.merge_unscheduled": OfPull,
  "pull.enqueued": OfPull.extend({ branch: z.string() }),
  "pull.dequeued": OfPull.extend({
    branch: z.string(),
    reason: z.enum(DEQUEUE_REASONS),
    detail: z.string(),
  }),
  "review.submitted": OfReview.extend({
    state: z.enum(["approved", "request_changes", "comment"]),
  }),
  "review.dismissed": OfReview,
  "review.undismissed": OfReview,
  "review.deleted": OfReview,
  "conversation.resolved": OfConversation,
  "conversation.reopened": OfConversation,
} as const;
