import { z } from "@hono/zod-openapi";

import type {
  Attachment,
  CodeComment as CodeCommentRow,
  Review as ReviewRow,
  TimelineEntry,
  User as UserRow,
} from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { issueHtmlUrlOf, type IssueNames } from "../issues/issue.ts";
import { Int64, Time } from "../json.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

export const PullReviewComment = z
  .object({
    id: Int64,
    body: z.string(),
    user: User,
    resolver: User.nullable().openapi({ description: "Who resolved the conversation" }),
    pull_request_review_id: Int64,
    created_at: Time,
    updated_at: Time,
    path: z.string(),
    commit_id: z.string().openapi({
      description:
        "The commit in which the line has this number; on the old side the reviewed head",
    }),
    original_commit_id: z.string().openapi({
      description:
        "The head that it was written about, if its line was followed to another; else empty",
    }),
    diff_hunk: z.string().openapi({ description: "The part of the diff that ends with the line" }),
    position: Int64.openapi({
      description:
        "The line of the head; 0 on the old side, for an outdated comment, and for a file",
    }),
    original_position: Int64.openapi({ description: "The line of the old side; else 0" }),
    html_url: z.string().openapi({ format: "uri" }),
    pull_request_url: z.string().openapi({ format: "uri" }),
    start_line: Int64.openapi({
      description: "The first of several lines; the line itself for one",
    }),
    original_line: Int64.openapi({ description: "The line when it was written" }),
    is_outdated: z.boolean().openapi({
      description: "Whether a later head changed or removed the line",
    }),
    in_reply_to: Int64.nullable().openapi({
      description: "The comment that begins the conversation; null for that itself",
    }),
  })
  .openapi("PullReviewComment");
export type PullReviewComment = z.infer<typeof PullReviewComment>;

/** A comment on code as queries return it. */
export interface CodeCommentContext {
  readonly pull: IssueNames;
  readonly entry: TimelineEntry;
  readonly code: CodeCommentRow;
  readonly review: Pick<ReviewRow, "id" | "state">;
  /** Undefined for a deleted account. */
  readonly poster: UserRow | undefined;
  readonly attachments: readonly Attachment[];
  /** The user who resolved the conversation. */
  readonly resolver: UserRow | undefined;
}

/** Formats a comment on code for `viewer`. */
export function toPullReviewComment(
  { pull, entry, code, review, poster, resolver }: CodeCommentContext,
  viewer: Viewer,
): PullReviewComment {
  const url = issueHtmlUrlOf(pull, viewer);
  const page = review.state === "pending" ? `${url}/files` : url;
  const isFollowed = !code.isOldSide && code.commitOid !== code.originalCommitOid;
  return {
    id: entry.id,
    body: entry.body,
    user: poster ? toUser(poster, viewer) : toGhost(viewer),
    resolver: resolver ? toUser(resolver, viewer) : null,
    pull_request_review_id: review.id,
    created_at: formatTime(entry.createdAt),
    updated_at: formatTime(entry.updatedAt),
    path: code.path,
    commit_id: code.isOldSide ? code.originalCommitOid : code.commitOid,
    original_commit_id: isFollowed ? code.originalCommitOid : "",
    diff_hunk: code.diffHunk,
    position: code.isOldSide || code.isOutdated ? 0 : code.line,
    original_position: code.isOldSide ? code.line : 0,
    html_url: `${page}#issuecomment-${entry.id}`,
    pull_request_url: url,
    start_line: code.startLine,
    original_line: code.originalLine,
    is_outdated: code.isOutdated,
    in_reply_to: code.rootId,
  };
}
