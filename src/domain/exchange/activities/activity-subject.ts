import { sql } from "drizzle-orm";

import { jsonRows } from "../../../db/json-rows.ts";
import {
  attachments,
  events,
  issues,
  releases,
  reviews,
  timelineEntries,
  users,
  type Attachment,
  type Issue,
  type Release,
  type TimelineEntry,
  type User,
} from "../../../db/schema/index.ts";
import type { ActivityEntry } from "../../../shapes/events/activity.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isEntrySubmitted } from "../../issues/comments/written-entries.ts";

const issueId = sql`(${events.payload} ->> '$.issueId')`;
const reviewId = sql`(${events.payload} ->> '$.reviewId')`;
const releaseId = sql`(${events.payload} ->> '$.releaseId')`;

/**
 * The entry of a timeline whose text an activity repeats: a comment, the reason of a dismissal, or
 * the text of a review. A review without a text of its own has that of its first comment on code.
 */
const commentId = sql`(
  case ${events.type}
    when 'review.submitted' then (
      select ${timelineEntries.id}
      from ${timelineEntries}
      where ${timelineEntries.reviewId} = ${reviewId}
        and ${timelineEntries.kind} in ('review', 'code')
      order by
        ${timelineEntries.body} = '',
        ${timelineEntries.kind} = 'code',
        iif(${timelineEntries.kind} = 'code', ${timelineEntries.id}, -${timelineEntries.id})
      limit 1
    )
    when 'review.dismissed' then (
      select max(${timelineEntries.id})
      from ${timelineEntries}
      where ${timelineEntries.reviewId} = ${reviewId} and ${timelineEntries.kind} = 'dismiss_review'
    )
    else ${events.payload} ->> '$.commentId'
  end
)`;

/**
 * The condition on `events` that the issue, the comment, the review or the release of an activity
 * was not deleted.
 *
 * SECURITY: nobody but its author knows of a pending review, and readers of no release that is a
 * draft again.
 */
export const isActivityPresent = sql`case
  when ${events.type} = 'comment.created' then exists (
    select 1
    from ${timelineEntries}
    where ${timelineEntries.id} = ${commentId} and ${isEntrySubmitted}
  )
  when ${events.type} glob 'review.*' then exists (
    select 1 from ${reviews} where ${reviews.id} = ${reviewId} and ${reviews.state} <> 'pending'
  )
  when ${events.type} glob 'issue.*' or ${events.type} glob 'pull.*' then exists (
    select 1 from ${issues} where ${issues.id} = ${issueId}
  )
  when ${events.type} = 'release.published' then exists (
    select 1 from ${releases} where ${releases.id} = ${releaseId} and not ${releases.isDraft}
  )
  else 1
end`;

/**
 * The issue, the comment and the release of an activity, as columns of a query over `events`. A
 * comment is one value, since a result has at most 100 columns.
 */
export const subjectColumns = {
  issue: jsonRows(issues, sql`from ${issues} where ${issues.id} = ${issueId}`, "activity_issue"),
  comments: jsonRows(
    timelineEntries,
    sql`from ${timelineEntries} where ${timelineEntries.id} = ${commentId}`,
    "activity_comment",
  ),
  posters: jsonRows(
    users,
    sql`
      from ${timelineEntries}
      join ${users} on ${users.id} = ${timelineEntries.posterId}
      where ${timelineEntries.id} = ${commentId}`,
    "activity_poster",
  ),
  reviewers: jsonRows(
    users,
    sql`
      from ${reviews}
      join ${users} on ${users.id} = ${reviews.reviewerId}
      where ${reviews.id} = ${reviewId}`,
    "activity_reviewer",
  ),
  files: jsonRows(
    attachments,
    sql`
      from ${attachments}
      where ${attachments.entryId} = ${commentId}
      order by ${attachments.id}`,
    "activity_files",
  ),
  releases: jsonRows(
    releases,
    sql`from ${releases} where ${releases.id} = ${releaseId}`,
    "activity_releases",
  ),
};

/** The values of `subjectColumns`. */
interface SubjectRows {
  readonly issue: readonly Issue[];
  readonly comments: readonly TimelineEntry[];
  readonly posters: readonly User[];
  readonly reviewers: readonly User[];
  readonly files: readonly Attachment[];
  readonly releases: readonly Release[];
}

export function toActivitySubject(
  repo: RepositoryContext,
  {
    issue: [issue],
    comments: [comment],
    posters: [poster],
    reviewers,
    files,
    releases: [release],
  }: SubjectRows,
): Pick<ActivityEntry, "issue" | "comment" | "reviewer" | "release"> {
  const ofIssue = issue && { repo, row: issue };
  return {
    issue: ofIssue,
    reviewer: reviewers[0],
    release,
    comment: ofIssue && comment && { issue: ofIssue, row: comment, poster, attachments: files },
  };
}
