import { z } from "@hono/zod-openapi";

import type {
  Attachment as AttachmentRow,
  TimelineEntry,
  User as UserRow,
} from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import type { Root } from "../urls.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";
import { Attachment, toAttachment } from "./attachment.ts";
import { issueHtmlUrlOf, type IssueNames } from "./issue.ts";

export const Comment = z
  .object({
    id: Int64,
    html_url: z.string().openapi({ format: "uri" }),
    pull_request_url: z.string().openapi({ description: "Empty for a comment of an issue" }),
    issue_url: z.string().openapi({ description: "Empty for a comment of a pull request" }),
    user: User,
    original_author: z.string(),
    original_author_id: Int64,
    body: z.string(),
    assets: z.array(Attachment),
    created_at: Time,
    updated_at: Time,
  })
  .openapi("Comment");
export type Comment = z.infer<typeof Comment>;

/** A comment as queries return it. */
export interface CommentContext {
  readonly issue: IssueNames;
  readonly row: TimelineEntry;
  /** Undefined for a deleted account. */
  readonly poster: UserRow | undefined;
  /** Oldest first. */
  readonly attachments: readonly AttachmentRow[];
}

/** The URL of a comment on the web page of its issue or pull request. */
export const commentHtmlUrlOf = (issue: IssueNames, id: number, root: Root): string =>
  `${issueHtmlUrlOf(issue, root)}#issuecomment-${id}`;

/**
 * The URL of a comment or another entry that opens the page of its conversation with it. Browsers
 * do not send what follows the `#`, so the other URL opens the first page, from which a script goes
 * on.
 */
export const entryHtmlUrlOf = (issue: IssueNames, id: number, root: Root): string =>
  `${issueHtmlUrlOf(issue, root)}?entry=${id}#issuecomment-${id}`;

/** Formats a comment for `viewer`. */
export function toComment(comment: CommentContext, viewer: Viewer): Comment {
  const { issue, row, poster } = comment;
  const issueUrl = issueHtmlUrlOf(issue, viewer);
  return {
    id: row.id,
    html_url: commentHtmlUrlOf(issue, row.id, viewer),
    pull_request_url: issue.row.isPull ? issueUrl : "",
    issue_url: issue.row.isPull ? "" : issueUrl,
    user: poster ? toUser(poster, viewer) : toGhost(viewer),
    original_author: row.originalAuthor,
    original_author_id: row.originalAuthorId,
    body: row.body,
    assets: comment.attachments.map((each) => toAttachment(each, viewer)),
    created_at: formatTime(row.createdAt),
    updated_at: formatTime(row.updatedAt),
  };
}
