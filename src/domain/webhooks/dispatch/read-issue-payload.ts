import { and, eq, sql } from "drizzle-orm";

import type { Database } from "../../../db/db.ts";
import { issues, labels, timelineEntries } from "../../../db/schema/index.ts";
import {
  toCommentPayload,
  toIssuePayload,
} from "../../../events/webhooks/payloads/issue-payload.ts";
import type {
  CommentChange,
  IssueChange,
} from "../../../events/webhooks/payloads/issue-webhook-event.ts";
import type { PayloadContext } from "../../../events/webhooks/payloads/payload-context.ts";
import type { Payload } from "../../../events/webhooks/payloads/payload.ts";
import { toLabel } from "../../../shapes/issues/label.ts";
import { isComment, selectComments, toCommentContext } from "../../comments/select-comments.ts";
import { selectIssues, toIssueContext } from "../../issues/find-issue.ts";

/** The rows that the payload of a change of an issue or comment is built from. */
export type IssueSubject = Awaited<ReturnType<typeof readIssueSubject>>;

/** Reads the issue of a webhook event, and its comment or the labels that it names, in one round trip. */
export async function readIssueSubject(db: Database, change: IssueChange | CommentChange) {
  const { repoId, issueId } = change;
  const commentId = change.event === "issue_comment" ? change.commentId : 0;
  const changes = change.event === "issue_comment" ? undefined : change.changes;
  const labelIds = [...(changes?.added ?? []), ...(changes?.removed ?? [])];
  const [[issue], [comment], named] = await db.batch([
    selectIssues(db).where(and(eq(issues.id, issueId), eq(issues.repoId, repoId))),
    selectComments(db).where(
      and(isComment, eq(timelineEntries.id, commentId), eq(timelineEntries.issueId, issueId)),
    ),
    db
      .select()
      .from(labels)
      .where(sql`${labels.id} in (select value from json_each(${JSON.stringify(labelIds)}))`)
      .orderBy(labels.name, labels.id),
  ]);
  return { issue, comment, labels: named };
}

/** @returns Undefined if the issue or the comment was deleted since. */
export function toIssueOrCommentPayload(
  context: PayloadContext,
  change: IssueChange | CommentChange,
  subject: IssueSubject,
): Payload | undefined {
  if (!subject.issue) return undefined;
  const { repo, viewer } = context;
  const issue = toIssueContext(repo, subject.issue);
  if (change.event === "issue_comment") {
    if (!subject.comment) return undefined;
    const comment = toCommentContext(repo, subject.comment);
    const { event, action, from } = change;
    return { event, body: toCommentPayload(context, action, issue, comment, from) };
  }
  const { event, action, commitOid, changes } = change;
  // Labels that were deleted since are not listed.
  const labelsOf = (ids: readonly number[]) =>
    subject.labels
      .filter(({ id }) => ids.includes(id))
      .map((label) => toLabel(label, repo, viewer));
  const ofLabels = event === "issue_label";
  const body = toIssuePayload(context, action, issue, {
    commitOid,
    ...(changes && {
      changes: {
        ...mapValues(changes.from),
        added_labels: ofLabels ? labelsOf(changes.added) : null,
        removed_labels: ofLabels ? labelsOf(changes.removed) : null,
      },
    }),
  });
  return { event, body };
}

const mapValues = (values: { title?: string; body?: string; ref?: string }) =>
  Object.fromEntries(Object.entries(values).map(([name, from]) => [name, { from }]));
