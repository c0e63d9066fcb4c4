import type { z } from "@hono/zod-openapi";

import type { DequeueReason } from "../../db/schema/index.ts";
import type { Oid } from "../../git/oid.ts";
import type { PullRequest } from "../pulls/pull-request.ts";
import type { Team } from "../orgs/team.ts";
import type { Repository } from "../repos/repository.ts";
import type { User } from "../users/user.ts";
import type { Changes, IssueAction } from "./issue-payloads.ts";

export type PullAction =
  | IssueAction
  | "synchronized"
  | "enqueued"
  | "dequeued"
  | "review_requested"
  | "review_request_removed"
  | "reviewed";

/** The payload of the webhook events of pull requests but their comments. */
export interface PullPayload {
  action: PullAction;
  number: number;
  /** `ref` is the former base. */
  changes?: Changes;
  /** Why it left the merge queue. */
  reason?: DequeueReason;
  pull_request: PullRequest;
  /**
   * The user whose review was requested, is no longer requested, or was submitted; null for other
   * actions, and for a team.
   */
  requested_reviewer: User | null;
  /** The team that is asked, or no more. */
  requested_team?: z.infer<typeof Team>;
  repository: Repository;
  sender: User;
  /** The commit whose message closed or reopened it; empty if none did. */
  commit_id: Oid | "";
  /** Null for other actions. */
  review: {
    type: `pull_request_review_${"approved" | "rejected" | "comment"}`;
    content: string;
  } | null;
}
