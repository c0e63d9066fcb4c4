import { z } from "@hono/zod-openapi";

import type { EventRow, Release as ReleaseRow, User as UserRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Comment, type CommentContext, toComment } from "../issues/comment.ts";
import type { IssueContext } from "../issues/issue.ts";
import { Int64, Time } from "../json.ts";
import { encodePath } from "../urls.ts";
import { Repository, type RepositoryContext, toRepository } from "../repos/repository.ts";
import { User, toUser } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

/** Kinds of activities, by their names in Gitea's API. */
const OP_TYPES = [
  "create_repo",
  "rename_repo",
  "star_repo",
  "watch_repo",
  "commit_repo",
  "transfer_repo",
  "push_tag",
  "delete_tag",
  "delete_branch",
  "mirror_sync_push",
  "mirror_sync_create",
  "mirror_sync_delete",
  "create_issue",
  "close_issue",
  "reopen_issue",
  "comment_issue",
  "create_pull_request",
  "close_pull_request",
  "reopen_pull_request",
  "comment_pull",
  "merge_pull_request",
  "auto_merge_pull_request",
  "approve_pull_request",
  "reject_pull_request",
  "pull_review_dismissed",
  "pull_request_ready_for_review",
  "publish_release",
] as const;
export type OpType = (typeof OP_TYPES)[number];

export const Activity = z
  .object({
    id: Int64,
    user_id: Int64.openapi({ description: "The account whose feed lists the activity" }),
    op_type: z.enum(OP_TYPES),
    act_user_id: Int64,
    act_user: User,
    repo_id: Int64,
    repo: Repository,
    comment_id: Int64.openapi({ description: "0 if it is no comment" }),
    comment: Comment.nullable(),
    ref_name: z.string().openapi({
      description:
        "The full name of a branch or tag, such as `refs/heads/main`; of a release, its tag's short name",
    }),
    is_private: z.boolean(),
    content: z.string().openapi({
      description:
        "Of an issue or pull request: its number and title; of a comment or review: the number and its beginning; of a dismissed review: the number, its author and the reason; of pushed commits: JSON",
      example: "12|The title of the issue",
    }),
    created: Time,
  })
  .openapi("Activity");

/** A commit as stored in a push event. */
export interface StoredCommit {
  readonly oid: string;
  readonly message: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly committerName: string;
  readonly committerEmail: string;
  readonly timeSeconds: number;
}

/** A ref update as stored in a push event. */
export interface StoredUpdate {
  readonly ref: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The latest of the pushed commits. */
  readonly commits?: readonly StoredCommit[];
  /**
   * Number of all pushed commits; for a new branch, of those that no other branch had, up to 10.
   */
  readonly commitCount?: number;
  /** The commit that the branch points at, if no commit is listed. */
  readonly head?: StoredCommit;
  /** For a new branch: the first parent of the oldest of its counted commits. */
  readonly base?: string;
  /** Set if the push itself shows that no commit added to a branch refers to an issue. */
  readonly hasNoReferences?: true;
}

/** An activity as queries return it. */
export interface ActivityEntry {
  readonly event: EventRow;
  /** Index of the ref update in a push; 0 for other events. */
  readonly position: number;
  readonly actor: UserRow;
  readonly repo: RepositoryContext;
  /** The issue or pull request, or that of the comment. */
  readonly issue?: Pick<IssueContext, "repo" | "row"> | undefined;
  readonly comment?: CommentContext | undefined;
  /** The author of the review; undefined also for a deleted account. */
  readonly reviewer?: UserRow | undefined;
  readonly release?: Pick<ReleaseRow, "tagName" | "title" | "body"> | undefined;
}

/** Number of activity ids reserved per event: a push event has at most this many ref updates. */
const IDS_PER_EVENT = 64;

/**
 * The id of an activity. It is computed from the event's id and the position, so it never changes.
 */
export const activityId = ({ event, position }: ActivityEntry): number =>
  event.id * IDS_PER_EVENT + position;

/** Returns the kind of an activity, and the ref update for a push. */
export function findOperation({ event, position, issue }: ActivityEntry): {
  opType: OpType;
  update: StoredUpdate | undefined;
} {
  const updates = event.payload["updates"] as readonly StoredUpdate[] | undefined;
  const update = updates?.[position];
  if (update && event.payload["isMirror"] === true) {
    return { opType: opTypeOfMirrored(update), update };
  }
  if (update) return { opType: opTypeOfUpdate(update), update };
  return { opType: opTypeOf(event, issue?.row.isPull ?? false), update };
}

function opTypeOfUpdate({ ref, after }: StoredUpdate): OpType {
  const isTag = ref.startsWith("refs/tags/");
  if (after === null) return isTag ? "delete_tag" : "delete_branch";
  return isTag ? "push_tag" : "commit_repo";
}

/** The kind of an update that a mirror fetched from its remote. */
function opTypeOfMirrored({ before, after }: StoredUpdate): OpType {
  if (after === null) return "mirror_sync_delete";
  return before === null ? "mirror_sync_create" : "mirror_sync_push";
}

function opTypeOf({ type, payload }: EventRow, isPull: boolean): OpType {
  switch (type) {
    case "repository.renamed":
      return "rename_repo";
    case "repository.transferred":
      return "transfer_repo";
    case "star.created":
      return "star_repo";
    case "watch.created":
      return "watch_repo";
    case "issue.opened":
      return isPull ? "create_pull_request" : "create_issue";
    case "issue.closed":
      return isPull ? "close_pull_request" : "close_issue";
    case "issue.reopened":
      return isPull ? "reopen_pull_request" : "reopen_issue";
    case "comment.created":
      return isPull ? "comment_pull" : "comment_issue";
    case "pull.merged":
      return payload["isAutomatic"] === true ? "auto_merge_pull_request" : "merge_pull_request";
    case "pull.ready":
      return "pull_request_ready_for_review";
    case "review.submitted":
      if (payload["state"] === "approved") return "approve_pull_request";
      return payload["state"] === "request_changes" ? "reject_pull_request" : "comment_pull";
    case "review.dismissed":
      return "pull_review_dismissed";
    case "release.published":
      return "publish_release";
    default:
      return "create_repo";
  }
}

/**
 * Formats an activity for `viewer`.
 *
 * @param userId The account whose feed it is; the actor in a repository's feed.
 */
export function toActivity(
  entry: ActivityEntry,
  viewer: Viewer,
  userId: number = entry.actor.id,
): z.infer<typeof Activity> {
  const { event, actor, repo, comment } = entry;
  const { opType, update } = findOperation(entry);
  return {
    id: activityId(entry),
    user_id: userId,
    op_type: opType,
    act_user_id: actor.id,
    act_user: toUser(actor, viewer),
    repo_id: repo.row.id,
    repo: toRepository(repo, viewer),
    comment_id: comment?.row.id ?? 0,
    comment: comment ? toComment(comment, viewer) : null,
    ref_name: update?.ref ?? entry.release?.tagName ?? "",
    is_private: [repo.row.visibility, event.visibility].includes("private"),
    content: formatContent(entry, opType, update),
    created: formatTime(event.createdAt),
  };
}

function formatContent(
  { event, repo: { row, owner }, issue, comment, reviewer, release }: ActivityEntry,
  opType: OpType,
  update: StoredUpdate | undefined,
): string {
  if (opType === "rename_repo" || opType === "transfer_repo") return String(event.payload["from"]);
  if (issue && opType === "pull_review_dismissed") {
    const reason = comment ? excerptOf(comment) : "";
    return `${issue.row.number}|${reviewer?.name ?? "Ghost"}|${reason}`;
  }
  if (issue) return `${issue.row.number}|${comment ? excerptOf(comment) : issue.row.title}`;
  if (release) return release.title;
  if (!(opType === "commit_repo" || opType === "mirror_sync_push") || !update) return "";
  const { commits = [], commitCount = 0 } = update;
  const head = commits[0] ?? update.head;
  const range = comparedRange(update, row.defaultBranch);
  return JSON.stringify({
    Commits: commits.map(toPushCommit),
    HeadCommit: head ? toPushCommit(head) : null,
    CompareURL: range === undefined ? "" : `${owner.name}/${row.name}/compare/${range}`,
    Len: commitCount,
  });
}

/** Characters of a comment that its activity repeats. */
const EXCERPT_CHARS_MAX = 200;

/** The beginning of a comment: whole words, where it has spaces. */
function excerptOf({ row: { body } }: CommentContext): string {
  if (body.length <= EXCERPT_CHARS_MAX) return body;
  const start = body.slice(0, EXCERPT_CHARS_MAX);
  const end = start.search(/\s\S*$/);
  const words = end > 0 ? start.slice(0, end) : start.replace(/[\ud800-\udbff]$/, "");
  return `${words}…`;
}

/**
 * The comparison that shows an update of a ref, as it is written in URLs: of a new branch from the
 * parent of its first commit, or from the default branch. Undefined for a deletion, for a new tag,
 * and for the first history of the default branch.
 */
export function comparedRange(
  { ref, before, after, base }: StoredUpdate,
  defaultBranch: string,
): string | undefined {
  const isOther = ref.startsWith("refs/heads/") && ref !== `refs/heads/${defaultBranch}`;
  const from = before ?? base ?? (isOther ? encodePath(defaultBranch) : undefined);
  return from === undefined || after === null ? undefined : `${from}...${after}`;
}

const toPushCommit = (commit: StoredCommit) => ({
  Sha1: commit.oid,
  Message: commit.message,
  AuthorEmail: commit.authorEmail,
  AuthorName: commit.authorName,
  CommitterEmail: commit.committerEmail,
  CommitterName: commit.committerName,
  Timestamp: formatTime(commit.timeSeconds * 1000),
});
