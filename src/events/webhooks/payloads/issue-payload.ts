import type { Oid } from "../../../git/oid.ts";
import { type CommentContext, toComment } from "../../../shapes/issues/comment.ts";
import { type IssueContext, toIssue } from "../../../shapes/issues/issue.ts";
import { toRepository } from "../../../shapes/repos/repository.ts";
import type {
  Changes,
  CommentPayload,
  IssueAction,
  IssuePayload,
} from "../../../shapes/webhooks/issue-payloads.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toSender } from "./receiver.ts";

/**
 * The payload for a change of an issue, by a user or by a commit.
 *
 * @param commitOid The commit whose message closed or reopened it; "" if none did.
 */
export const toIssuePayload = (
  { repo, sender, viewer }: PayloadContext,
  action: IssueAction,
  issue: IssueContext,
  { changes, commitOid = "" }: { changes?: Changes; commitOid?: Oid | "" } = {},
): IssuePayload => ({
  action,
  number: issue.row.number,
  ...(changes && { changes }),
  issue: toIssue({ ...issue, repo }, viewer),
  repository: toRepository(repo, viewer),
  sender: toSender(sender, viewer),
  commit_id: commitOid,
});

/**
 * The payload for a change of a comment.
 *
 * @param from The former text of an edited comment.
 */
export const toCommentPayload = (
  { repo, sender, viewer }: PayloadContext,
  action: CommentPayload["action"],
  issue: IssueContext,
  comment: CommentContext,
  from?: string,
): CommentPayload => ({
  action,
  issue: toIssue({ ...issue, repo }, viewer),
  comment: toComment(comment, viewer),
  ...(from !== undefined && { changes: { body: { from } } }),
  repository: toRepository(repo, viewer),
  sender: toSender(sender, viewer),
  is_pull: issue.row.isPull,
});
