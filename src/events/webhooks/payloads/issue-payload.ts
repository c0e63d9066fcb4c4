import type { Oid } from "../../../git/oid.ts";
import { cutForJson } from "../../../lib/json-size.ts";
import { type CommentContext, toComment } from "../../../shapes/issues/comment.ts";
import { type Issue, type IssueContext, toIssue } from "../../../shapes/issues/issue.ts";
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
 * Bytes of one text as JSON, and of the longest list of changed labels: a payload with all of them stays below the 1.5 MB
 * of one stored value.
 */
const TEXT_BYTES_MAX = 300_000;
const LABELS_MAX = 200;

const cut = (text: string): string => cutForJson(text, TEXT_BYTES_MAX);

/** The issue with a text of bounded size. */
function toPayloadIssue({ repo, viewer }: PayloadContext, issue: IssueContext): Issue {
  const payload = toIssue({ ...issue, repo }, viewer);
  return { ...payload, body: cut(payload.body) };
}

function toPayloadChanges({ body, ...changes }: Changes): Changes {
  return {
    ...changes,
    ...(body && { body: { from: cut(body.from) } }),
    added_labels: changes.added_labels?.slice(0, LABELS_MAX) ?? null,
    removed_labels: changes.removed_labels?.slice(0, LABELS_MAX) ?? null,
  };
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
  ...(changes && { changes: toPayloadChanges(changes) }),
  issue: toPayloadIssue(context, issue),
  repository: toRepository(context.repo, context.viewer),
  sender: toSender(context.sender, context.viewer),
  commit_id: commitOid,
});

/**
 * The payload for a change of a comment.
 *
 * @param from The former text of an edited comment.
 */
export function toCommentPayload(
  context: PayloadContext,
  action: CommentPayload["action"],
  issue: IssueContext,
  comment: CommentContext,
  from?: string,
): CommentPayload {
  const { repo, sender, viewer } = context;
  const payload = toComment(comment, viewer);
  return {
    action,
    issue: toPayloadIssue(context, issue),
    comment: { ...payload, body: cut(payload.body) },
    ...(from !== undefined && { changes: { body: { from: cut(from) } } }),
    repository: toRepository(repo, viewer),
    sender: toSender(sender, viewer),
    is_pull: issue.row.isPull,
  };
}
