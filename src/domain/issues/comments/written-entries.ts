import { type SQL, sql } from "drizzle-orm";

import { reviews, timelineEntries, type TimelineKind } from "../../../db/schema/index.ts";

/** The kinds of entries that have a text of a user. */
export const WRITTEN_KINDS = ["comment", "review", "code"] as const satisfies TimelineKind[];

/** The review of an entry, while it is pending. */
const pendingReview = sql`
  select 1
  from ${reviews}
  where ${reviews.id} = ${timelineEntries.reviewId} and ${reviews.state} = 'pending'`;

/** The condition that an entry is no part of a pending review, which is its author's alone. */
export const isEntrySubmitted = sql`(
  ${timelineEntries.reviewId} is null or not exists (${pendingReview})
)`;

/**
 * The condition that an entry is no part of a pending review, or of one by the caller.
 *
 * @param userId The id of the caller; undefined for an anonymous one.
 */
export const isSubmittedOrBy = (userId: number | SQL | undefined): SQL => sql`(
  ${timelineEntries.reviewId} is null
  or not exists (${pendingReview} and ${reviews.reviewerId} is not ${userId ?? 0})
)`;
