import { and, eq, inArray, sql } from "drizzle-orm";

import { selectTeams } from "../../../../auth/access/teams.ts";
import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { columnsOf } from "../../../../db/db.ts";
import { issues, reviews, timelineEntries, users } from "../../../../db/schema/index.ts";
import type { CommentChange } from "../../../../events/webhooks/payloads/issue-change.ts";
import { toCommentPayload } from "../../../../events/webhooks/payloads/issue-payload.ts";
import type { PayloadContext } from "../../../../events/webhooks/payloads/payload-context.ts";
import type { Payload } from "../../../../events/webhooks/payloads/payload.ts";
import { toPullPayload } from "../../../../events/webhooks/payloads/pull-payload.ts";
import type {
  PullChange,
  ReviewChange,
} from "../../../../events/webhooks/payloads/pull-webhook-event.ts";
import { selectComments, toCommentContext } from "../../../issues/comments/select-comments.ts";
import { selectHeadRepositories, selectPulls, toOnePull } from "../../../pulls/pull/find-pull.ts";
import { isEntrySubmitted, WRITTEN_KINDS } from "../../../issues/comments/written-entries.ts";
import { selectChangedLabels, toChanges } from "./read-issue-payload.ts";

/** A webhook event of a pull request that exists. */
type Change = PullChange | CommentChange | ReviewChange;

/** The rows that the payload of a change of a pull request is built from. */
export type PullSubject = Awaited<ReturnType<typeof readPullSubject>>;

/** Reads the pull request of a webhook event, and what else the event names, in one round trip. */
export async function readPullSubject(ctx: Ctx, change: Change) {
  const { db } = ctx;
  const { repoId, issueId } = change;
  const commentId = "commentId" in change ? change.commentId : 0;
  const asked = "asked" in change ? change.asked : undefined;
  const reviewId = "reviewId" in change ? change.reviewId : 0;
  const { comments, accounts, teams, found, ...subject } = await batch(db, {
    rows: selectPulls(db).where(and(eq(issues.id, issueId), eq(issues.repoId, repoId))),
    heads: selectHeadRepositories(ctx, repoId, sql`${issueId}`),
    // SECURITY: nobody but its author knows of a pending review.
    comments: selectComments(db).where(
      and(
        eq(timelineEntries.id, commentId),
        eq(timelineEntries.issueId, issueId),
        inArray(timelineEntries.kind, WRITTEN_KINDS),
        isEntrySubmitted,
      ),
    ),
    labels: selectChangedLabels(db, "changes" in change ? change : {}),
    accounts: db
      .select()
      .from(users)
      .where(eq(users.id, asked?.userId ?? 0)),
    teams: selectTeams(db, sql`${asked?.teamId ?? 0}`),
    found: db
      .select({ body: reviews.body, reviewer: columnsOf(users, "r") })
      .from(reviews)
      .leftJoin(users, eq(users.id, reviews.reviewerId))
      .where(
        and(
          eq(reviews.id, reviewId),
          eq(reviews.issueId, issueId),
          sql`${reviews.state} <> 'pending'`,
        ),
      ),
  });
  const [comment] = comments;
  const [user] = accounts;
  const [team] = teams;
  const [review] = found;
  return { ...subject, comment, user, team, review };
}

/** @returns Undefined if the pull request, the comment or the review was deleted since. */
export function toPullOrReviewPayload(
  ctx: Ctx,
  context: PayloadContext,
  change: Change,
  subject: PullSubject,
): Payload | undefined {
  const { repo } = context;
  const pull = toOnePull(ctx, repo, subject);
  if (!pull) return undefined;
  if ("commentId" in change) {
    if (!subject.comment) return undefined;
    const comment = toCommentContext(repo, subject.comment);
    const { event, action, from } = change;
    return { event, body: toCommentPayload(context, action, pull, comment, { from, pull }) };
  }
  const { event, action } = change;
  if ("reviewId" in change) {
    if (!subject.review) return undefined;
    const { body: content, reviewer } = subject.review;
    const details = { reviewer: reviewer ?? undefined, review: { type: change.event, content } };
    return { event, body: toPullPayload(context, action, pull, details) };
  }
  const { user: reviewer, team } = subject;
  const { commitOid } = change;
  const reason = "reason" in change ? change.reason : undefined;
  const changes = toChanges(context, change, subject.labels);
  const details = { commitOid, reason, reviewer, team, ...changes };
  return { event, body: toPullPayload(context, action, pull, details) };
}
