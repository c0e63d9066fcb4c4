import { and, eq, sql, type SQL } from "drizzle-orm";

import type { Database } from "../../../db/db.ts";
import { type Review, reviews } from "../../../db/schema/index.ts";

// The states of reviews, as in Gitea. Each user has at most one request and one pending review of a
// pull request, and any number of submitted ones. Of those that approve or ask for changes the
// latest counts, if the user is an official reviewer and it was not dismissed; it dismisses the
// earlier ones. A request takes that away until it is answered.

/** The condition for requests, in the words of the partial indexes. */
export const isRequest = sql`${reviews.state} = 'request_review'`;

/** The condition for reviews that everybody sees: neither requests nor pending ones. */
export const isSubmittedReview = sql`
  ${reviews.state} in ('approved', 'request_changes', 'comment')`;

/** Whether a review approves or asks for changes. */
export const isVoting = ({ state }: Pick<Review, "state">): boolean =>
  state === "approved" || state === "request_changes";

/**
 * The condition that the caller may see a review: pending ones are their author's alone.
 *
 * SECURITY: not even administrators see them.
 *
 * @param callerId Null for an anonymous caller.
 */
export const isReviewVisible = (callerId: number | null | SQL): SQL =>
  sql`(${reviews.state} <> 'pending' or ${reviews.reviewerId} = ${callerId})`;

/**
 * The statement that lets the last review of some users which approves or asks for changes count
 * again, where the request or the review that counted instead is taken away.
 *
 * @param userIds Selects the users.
 */
export const restoreOfficial = (db: Database, issueId: number | SQL, userIds: SQL) =>
  db
    .update(reviews)
    .set({ isOfficial: true })
    .where(
      and(
        eq(reviews.issueId, issueId),
        sql`${reviews.id} in (
          select max(latest.id)
          from ${reviews} latest
          where latest.issue_id = ${issueId} and latest.state in ('approved', 'request_changes')
            and not latest.is_dismissed and latest.reviewer_id in ${userIds}
          group by latest.reviewer_id
        )`,
      ),
    );
