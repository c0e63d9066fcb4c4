import { z } from "@hono/zod-openapi";

import type { Issue as IssueRow, Notification, Release } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import { Repository, toRepository, type RepositoryContext } from "../repos/repository.ts";
import {
  apiRootOf,
  apiUrlOf,
  htmlUrlOf,
  releaseApiUrlOf,
  releaseHtmlUrlOf,
  type Root,
} from "../urls.ts";
import type { Viewer } from "../viewer.ts";
import { commentHtmlUrlOf } from "./comment.ts";
import { issueApiUrlOf, issueHtmlUrlOf } from "./issue.ts";
import { State, stateOf } from "./state.ts";

const NotificationSubject = z
  .object({
    title: z.string(),
    url: z.string(),
    html_url: z.string(),
    latest_comment_url: z.string().openapi({ description: "Empty without a comment" }),
    latest_comment_html_url: z.string(),
    type: z.enum(["Issue", "Pull", "Commit", "Repository", "Release"]),
    state: z
      .union([State, z.enum(["merged", ""])])
      .openapi({ type: "string", enum: ["open", "closed", "merged", ""] }),
  })
  .openapi("NotificationSubject");

export const NotificationThread = z
  .object({
    id: Int64,
    repository: Repository,
    subject: NotificationSubject,
    unread: z.boolean(),
    pinned: z.boolean(),
    updated_at: Time,
    url: z.string().openapi({ format: "uri" }),
  })
  .openapi("NotificationThread");
export type NotificationThread = z.infer<typeof NotificationThread>;

export const NotificationCount = z.object({ new: Int64 }).openapi("NotificationCount");

/** A notification as queries return it. */
export interface NotificationContext {
  readonly row: Notification;
  readonly repo: RepositoryContext;
  /** Undefined for other subjects. */
  readonly issue:
    | (Pick<IssueRow, "number" | "title" | "isPull" | "isClosed"> & { readonly isMerged: boolean })
    | undefined;
  /** Undefined for other subjects. */
  readonly release: Pick<Release, "id" | "tagName" | "title" | "isDraft"> | undefined;
  /** The last comment of the issue; null without one. */
  readonly lastCommentId: number | null;
  /** Whether its reader has unsubscribed from the issue. */
  readonly isUnsubscribed: boolean;
}

/** Formats a notification for its reader. */
export function toNotificationThread(
  notification: NotificationContext,
  viewer: Viewer,
): NotificationThread {
  const { row, repo } = notification;
  return {
    id: row.id,
    repository: toRepository(repo, viewer),
    subject: toSubject(notification, viewer),
    unread: row.status === "unread",
    pinned: row.status === "pinned",
    updated_at: formatTime(row.updatedAt),
    url: `${apiRootOf(viewer)}/notifications/threads/${row.id}`,
  };
}

/** Formats the subject of a notification; its `html_url` is a path with an empty `rootUrl`. */
export function toSubject(
  { row, repo, issue, release, lastCommentId }: NotificationContext,
  viewer: Root,
): NotificationThread["subject"] {
  const htmlUrl = htmlUrlOf(repo, viewer);
  const none = { latest_comment_url: "", latest_comment_html_url: "", state: "" as const };
  if (issue) {
    const names = { repo, row: issue };
    return {
      type: issue.isPull ? "Pull" : "Issue",
      title: issue.title,
      url: issueApiUrlOf(names, viewer),
      html_url: issueHtmlUrlOf(names, viewer),
      ...(lastCommentId === null
        ? none
        : {
            latest_comment_url: `${apiUrlOf(repo, viewer)}/issues/comments/${lastCommentId}`,
            latest_comment_html_url: commentHtmlUrlOf(names, lastCommentId, viewer),
          }),
      state: issue.isMerged ? "merged" : stateOf(issue),
    };
  }
  if (release) {
    // SECURITY: one that was withdrawn is a draft, whose title is for writers.
    const { id, tagName, isDraft } = release;
    return {
      ...none,
      type: "Release",
      title: isDraft ? tagName : release.title || tagName,
      url: releaseApiUrlOf(repo, id, viewer),
      html_url: releaseHtmlUrlOf(repo, tagName, viewer),
    };
  }
  if (row.subject === "commit") {
    const { commitOid } = row;
    return {
      ...none,
      type: "Commit",
      title: commitOid,
      url: `${apiUrlOf(repo, viewer)}/git/commits/${commitOid}`,
      html_url: `${htmlUrl}/commit/${commitOid}`,
    };
  }
  return {
    ...none,
    type: "Repository",
    title: `${repo.owner.name}/${repo.row.name}`,
    url: apiUrlOf(repo, viewer),
    html_url: htmlUrl,
  };
}
