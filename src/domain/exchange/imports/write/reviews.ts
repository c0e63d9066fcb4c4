import { and, eq, exists, notExists, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { insertSelect } from "../../../../db/insert-select.ts";
import { codeComments, pulls, reviews, timelineEntries } from "../../../../db/schema/index.ts";
import type { ForeignCodeComment, ForeignReview } from "../../../../forges/forge.ts";
import { type ImportJob, type MappedAuthor, presentUserId } from "../import-job.ts";
import { accountOf, reactionsOf, toAuthor } from "./authors.ts";
import { importedIssue } from "./comments.ts";
import { reactionStatement } from "./issues.ts";
import {
  field,
  freshItem,
  freshItems,
  localIdOf,
  reserveIds,
  settleItems,
  toStoredText,
  withoutRepeats,
} from "./page.ts";

const PATH_LENGTH_MAX = 4096;
const HUNK_LENGTH_MAX = 8192;

const toOid = (text: string): string => (/^[0-9a-f]{40}$/.test(text) ? text : "");

/** A review as it goes into statements. */
const toReviewRow = (job: ImportJob, item: ForeignReview) => {
  const { posterId, ...original } = toAuthor(job, item.reviewer);
  return {
    foreignId: item.foreignId,
    revision: "",
    number: item.number,
    state: item.state,
    reviewerId: posterId,
    ...original,
    isOfficial: item.isOfficial,
    isDismissed: item.isDismissed,
    body: toStoredText(job, item.body, `a review of ${item.number}`),
    commitOid: toOid(item.commitOid),
    createdAt: item.createdAt,
    updatedAt: item.updatedAt ?? item.createdAt,
  };
};
export type ReviewRow = ReturnType<typeof toReviewRow>;

/**
 * The reviews of a page, as they go into statements. A request is of an account: others can't be
 * asked here.
 */
export const toReviewRows = (job: ImportJob, items: readonly ForeignReview[]): ReviewRow[] =>
  withoutRepeats(items)
    .filter(
      (item) => item.state !== "request_review" || accountOf(job, item.reviewer) !== undefined,
    )
    .map((item) => toReviewRow(job, item));

/**
 * The comments on code of a page, as they go into statements, each after the one that it answers.
 */
export function toCodeRows(job: ImportJob, items: readonly ForeignReview[]) {
  const all = items.flatMap((review) => review.comments.map((comment) => ({ comment, review })));
  const byId = new Map(all.map(({ comment }) => [comment.foreignId, comment]));
  return withoutRepeats(
    all.map(({ comment, review }) => ({
      foreignId: comment.foreignId,
      revision: String(comment.updatedAt),
      number: review.number,
      reviewId: review.foreignId,
      answersId: firstOf(byId, comment),
      author: toAuthor(job, comment.poster),
      body: toStoredText(job, comment.body, `a comment on code of ${review.number}`),
      path: comment.path.slice(0, PATH_LENGTH_MAX).toWellFormed(),
      isOldSide: comment.isOnOldSide,
      place: toPlace(comment),
      diffHunk: comment.hunk.slice(0, HUNK_LENGTH_MAX).toWellFormed(),
      isResolved: comment.isResolved,
      resolvedAt: comment.place?.resolvedAt ?? comment.updatedAt,
      createdAt: comment.createdAt,
      updatedAt: comment.updatedAt,
      reactions: reactionsOf(job, comment.reactions),
    })),
  );
}

/** Where a comment is: in lines as they are now, and as they were when it was written. */
function toPlace({ line: sent, commitOid, place }: ForeignCodeComment) {
  const line = Math.max(0, sent);
  return {
    line,
    startLine: place?.startLine ?? line,
    isOutdated: place?.isOutdated ?? line === 0,
    commitOid: toOid(commitOid),
    originalLine: place?.originalLine ?? line,
    originalCommitOid: toOid(place?.originalCommitOid ?? commitOid),
  };
}

export type CodeRow = ReturnType<typeof toCodeRows>[number];

/** The id of the first comment of a conversation, as far as the page has it; "" for that itself. */
function firstOf(
  byId: ReadonlyMap<string, ForeignCodeComment>,
  { answersId, foreignId }: ForeignCodeComment,
): string {
  let first = answersId;
  // A conversation that goes in circles has no first comment.
  for (let steps = 0; steps < byId.size; steps++) {
    const next = byId.get(first)?.answersId ?? "";
    if (next === "") break;
    first = next;
  }
  return first === foreignId ? "" : first;
}

/** The statements that take reviews which were not taken before, of pull requests that were. */
export function reviewStatements(
  job: ImportJob,
  rows: readonly ReviewRow[],
): BatchItem<"sqlite">[] {
  if (rows.length === 0) return [];
  const { ctx, repoId } = job;
  const { db } = ctx;
  const isRequest = eq(reviews.state, "request_review");
  // Reviews are skipped if the number is an issue here.
  const ofPull = eq(pulls.issueId, importedIssue(job));
  const issueId = sql`${db.select({ id: pulls.issueId }).from(pulls).where(ofPull)}`;
  const headOid = db.select({ oid: pulls.headOid }).from(pulls).where(ofPull);
  const sameRequest = db
    .select({ id: reviews.id })
    .from(reviews)
    .where(
      and(
        eq(reviews.issueId, issueId),
        eq(reviews.state, "request_review"),
        eq(reviews.reviewerId, field("reviewerId")),
      ),
    );
  const isTaken = sql`${issueId} is not null
    and (${field("state")} <> 'request_review' or ${notExists(sameRequest)})`;
  return [
    reserveIds(job, "review", reviews, rows, { isTaken }),
    insertSelect(
      db,
      reviews,
      {
        id: freshItem.localId,
        repoId,
        issueId,
        state: field("state"),
        reviewerId: presentUserId(field("reviewerId")),
        originalAuthor: field("originalAuthor"),
        originalAuthorId: field("originalAuthorId"),
        // SECURITY: the rules here decide whether a review counts, and a review counts as an
        // account's vote only if an administrator of the service mapped its author.
        isOfficial: sql`(${field("isOfficial")} and ${field("reviewerId")} is not null)`,
        isStale: sql`(${field("commitOid")} <> '' and ${field("commitOid")} <> ${headOid})`,
        isDismissed: field("isDismissed"),
        body: field("body"),
        commitOid: field("commitOid"),
        createdAt: field("createdAt"),
        updatedAt: field("updatedAt"),
      },
      sql`${freshItems(job, "review", rows)} order by item.key`,
    ).onConflictDoNothing(),
    insertSelect(
      db,
      timelineEntries,
      {
        repoId,
        issueId: reviews.issueId,
        kind: sql`iif(${isRequest}, 'review_request', 'review')`,
        // A request names the reviewer; who requested the review is unknown.
        posterId: sql`iif(${isRequest}, null, ${reviews.reviewerId})`,
        assigneeId: sql`iif(${isRequest}, ${reviews.reviewerId}, null)`,
        originalAuthor: reviews.originalAuthor,
        originalAuthorId: reviews.originalAuthorId,
        body: sql`iif(${isRequest}, '', ${reviews.body})`,
        reviewId: reviews.id,
        createdAt: reviews.createdAt,
        updatedAt: reviews.createdAt,
      },
      sql`
        ${freshItems(job, "review", rows)}
        join ${reviews} on ${reviews.id} = ${freshItem.localId}
        order by item.key`,
    ),
    settleItems(job, "review", rows),
  ];
}

/** The statements that take comments on code which were not taken before, of reviews that were. */
export function codeCommentStatements(
  job: ImportJob,
  rows: readonly CodeRow[],
): BatchItem<"sqlite">[] {
  if (rows.length === 0) return [];
  const { ctx, repoId } = job;
  const { db } = ctx;
  const authorOf = (name: keyof MappedAuthor) => sql`(item.value -> 'author' ->> ${name})`;
  const placeOf = (name: keyof CodeRow["place"]) => sql`(item.value -> 'place' ->> ${name})`;
  const reviewId = localIdOf(job, "review", field("reviewId"));
  const isTaken = exists(
    db.select({ id: reviews.id }).from(reviews).where(eq(reviews.id, reviewId)),
  );
  const first = localIdOf(job, "review_comment", field("answersId"));
  const earlierRootId = db
    .select({ id: codeComments.rootId })
    .from(codeComments)
    .where(eq(codeComments.entryId, first));
  const earlierId = db
    .select({ id: timelineEntries.id })
    .from(timelineEntries)
    .where(eq(timelineEntries.id, first));
  const doerId = presentUserId(sql`${ctx.actor.user?.id ?? 0}`);
  const isResolved = sql`(${field("isResolved")} and ${field("answersId")} = '')`;
  return [
    reserveIds(job, "review_comment", timelineEntries, rows, { isTaken }),
    insertSelect(
      db,
      timelineEntries,
      {
        id: freshItem.localId,
        repoId,
        issueId: reviews.issueId,
        kind: "code",
        posterId: presentUserId(authorOf("posterId")),
        originalAuthor: authorOf("originalAuthor"),
        originalAuthorId: authorOf("originalAuthorId"),
        body: field("body"),
        reviewId: reviews.id,
        createdAt: field("createdAt"),
        updatedAt: field("updatedAt"),
      },
      sql`
        ${freshItems(job, "review_comment", rows)}
        join ${reviews} on ${reviews.id} = ${reviewId}
        order by item.key`,
    ),
    insertSelect(
      db,
      codeComments,
      {
        entryId: freshItem.localId,
        reviewId: reviews.id,
        issueId: reviews.issueId,
        // The first one of its conversation, also where that answers another one of an earlier
        // page.
        rootId: sql`coalesce(${earlierRootId}, ${earlierId})`,
        path: field("path"),
        line: placeOf("line"),
        startLine: placeOf("startLine"),
        isOldSide: field("isOldSide"),
        commitOid: sql`case
          when ${placeOf("isOutdated")} then ${placeOf("commitOid")}
          when ${field("isOldSide")} then ${pulls.mergeBaseOid}
          else ${pulls.headOid}
        end`,
        originalCommitOid: sql`iif(
          ${placeOf("originalCommitOid")} = '', ${pulls.headOid}, ${placeOf("originalCommitOid")}
        )`,
        originalLine: placeOf("originalLine"),
        diffHunk: field("diffHunk"),
        isOutdated: placeOf("isOutdated"),
        // The resolver is unknown: the account that imports stands for it.
        resolverId: sql`iif(${isResolved}, ${doerId}, null)`,
        resolvedAt: sql`iif(${isResolved}, ${field("resolvedAt")}, null)`,
      },
      sql`
        ${freshItems(job, "review_comment", rows)}
        join ${reviews} on ${reviews.id} = ${reviewId}
        join ${pulls} on ${pulls.issueId} = ${reviews.issueId}
        order by item.key`,
    ),
    reactionStatement(job, "review_comment", rows),
    settleItems(job, "review_comment", rows),
  ];
}
