import type { Oid } from "../../../git/oid.ts";
import { type CommentContext, toComment } from "../../../shapes/issues/comment.ts";
import { type Issue, type IssueContext, toIssue } from "../../../shapes/issues/issue.ts";
import { toRepository } from "../../../shapes/repos/repository.ts";
import type {
  Changes,
  CommentPayload,
  IssueAction,
  IssuePayload,
} from "../../../shapes/webhooks/issue-payloads.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { boundChanges, boundText } from "./bounded.ts";
import type { PayloadContext } from "./payload-context.ts";
import { toPayloadPull } from "./pull-payload.ts";
import { toSender } from "./receiver.ts";

/** The issue with a text of bounded size. */
function toPayloadIssue({ repo, viewer }: PayloadContext, issue: IssueContext): Issue {
  const payload = toIssue({ ...issue, repo }, viewer);
  return { ...payload, body: boundText(payload.body) };
}

/**
 * The payload for a change of an issue, by a user or by a commit.
 *
 * @param commitOid The commit whose message closed or reopened it; "" if none did.
 */
export const toIssuePayload = (
  context: PayloadContext,
  action: IssueAction,
  issue: IssueContext,
  { changes, commitOid = "" }: { changes?: Changes; commitOid?: Oid | "" } = {},
): IssuePayload => ({
  action,
  number: issue.row.number,
  ...(changes && { changes: boundChanges(changes) }),
  issue: toPayloadIssue(context, issue),
  repository: toRepository(context.repo, context.viewer),
  sender: toSender(context.sender, context.viewer),
  commit_id: commitOid,
});

/**
 * The payload for a change of a comment.
 *
 * @param from The former text of an edited comment.
 * @param pull The pull request, if it is the comment of one.
 */
export function toCommentPayload(
  context: PayloadContext,
  action: CommentPayload["action"],
  issue: IssueContext,
  comment: CommentContext,
  { from, pull }: { from?: string | undefined; pull?: PullContext | undefined } = {},
): CommentPayload {
  const { repo, sender, viewer } = context;
  const payload = toComment(comment, viewer);
  return {
    action,
    issue: toPayloadIssue(context, issue),
    ...(pull && { pull_request: toPayloadPull(context, pull) }),
    comment: { ...payload, body: boundText(payload.body) },
    ...(from !== undefined && { changes: { body: { from: boundText(from) } } }),
    repository: toRepository(repo, viewer),
    sender: toSender(sender, viewer),
    is_pull: issue.row.isPull,
  };
}
