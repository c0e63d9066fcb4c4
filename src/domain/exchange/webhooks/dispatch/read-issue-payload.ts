import { and, eq, type SQL, sql } from "drizzle-orm";

import { batch } from "../../../../db/batch.ts";
import type { Database } from "../../../../db/db.ts";
import { issues, labels, timelineEntries, type Label } from "../../../../db/schema/index.ts";
import {
  toCommentPayload,
  toIssuePayload,
} from "../../../../events/webhooks/payloads/issue-payload.ts";
import type {
  CommentChange,
  IssueChange,
} from "../../../../events/webhooks/payloads/issue-change.ts";
import type { PayloadContext } from "../../../../events/webhooks/payloads/payload-context.ts";
import type { Payload } from "../../../../events/webhooks/payloads/payload.ts";
import { toLabel } from "../../../../shapes/issues/label.ts";
import type { Changes } from "../../../../shapes/webhooks/issue-payloads.ts";
import {
  isComment,
  selectComments,
  toCommentContext,
} from "../../../issues/comments/select-comments.ts";
import { selectIssues, toIssueContext } from "../../../issues/issue/find-issue.ts";

/** The rows that the payload of a change of an issue or comment is built from. */
export type IssueSubject = Awaited<ReturnType<typeof readIssueSubject>>;

/**
 * Reads the issue of a webhook event, and its comment or the labels that it names, in one round
 * trip.
 */
export async function readIssueSubject(db: Database, change: IssueChange | CommentChange) {
  const { repoId, issueId } = change;
  const read = await batch(db, {
    issues: selectIssues(db).where(and(eq(issues.id, issueId), eq(issues.repoId, repoId))),
    comments: selectComments(db).where(isChangedComment(change)),
    labels: selectChangedLabels(db, "changes" in change ? change : {}),
  });
  return { issue: read.issues[0], comment: read.comments[0], labels: read.labels };
}

/** The condition for the comment of a change. */
const isChangedComment = (change: IssueChange | CommentChange): SQL | undefined =>
  and(
    isComment,
    eq(timelineEntries.id, "commentId" in change ? change.commentId : 0),
    eq(timelineEntries.issueId, change.issueId),
  );

/** Selects the labels that a change names. */
export function selectChangedLabels(db: Database, change: { changes?: IssueChange["changes"] }) {
  const ids = [...(change.changes?.added ?? []), ...(change.changes?.removed ?? [])];
  return db
    .select()
    .from(labels)
    .where(sql`${labels.id} in (select value from json_each(${JSON.stringify(ids)}))`)
    .orderBy(labels.name, labels.id);
}

/** @returns Undefined if the issue or the comment was deleted since. */
export function toIssueOrCommentPayload(
  context: PayloadContext,
  change: IssueChange | CommentChange,
  subject: IssueSubject,
): Payload | undefined {
  if (!subject.issue) return undefined;
  const { repo } = context;
  const issue = toIssueContext(repo, subject.issue);
  if ("commentId" in change) {
    if (!subject.comment) return undefined;
    const comment = toCommentContext(repo, subject.comment);
    const { event, action, from } = change;
    return { event, body: toCommentPayload(context, action, issue, comment, { from }) };
  }
  const { event, action, commitOid } = change;
  const changes = toChanges(context, change, subject.labels);
  return { event, body: toIssuePayload(context, action, issue, { commitOid, ...changes }) };
}

/**
 * The former values of what a change edited, and the labels that it added and removed.
 *
 * @param named The labels that exist: those that were deleted since are not listed.
 */
export function toChanges(
  { repo, viewer }: PayloadContext,
  { action, changes }: { action: string; changes?: IssueChange["changes"] },
  named: readonly Label[],
): { changes?: Changes } {
  if (!changes) return {};
  const ofLabels = action === "label_updated";
  const labelsOf = (ids: readonly number[]) =>
    named.filter(({ id }) => ids.includes(id)).map((label) => toLabel(label, repo, viewer));
  return {
    changes: {
      ...mapValues(changes.from),
      added_labels: ofLabels ? labelsOf(changes.added) : null,
      removed_labels: ofLabels ? labelsOf(changes.removed) : null,
    },
  };
}

const mapValues = (values: { title?: string; body?: string; ref?: string }) =>
  Object.fromEntries(Object.entries(values).map(([name, from]) => [name, { from }]));
