import { sql } from "drizzle-orm";

import { jsonRows } from "../../db/json-rows.ts";
import {
  attachments,
  events,
  issues,
  releases,
  timelineEntries,
  users,
  type Attachment,
  type Issue,
  type Release,
  type TimelineEntry,
  type User,
} from "../../db/schema/index.ts";
import type { ActivityEntry } from "../../shapes/events/activity.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

const issueId = sql`(${events.payload} ->> '$.issueId')`;
const releaseId = sql`(${events.payload} ->> '$.releaseId')`;
const commentId = sql`(${events.payload} ->> '$.commentId')`;

/** The condition on `events` that the issue, comment or release of an activity was not deleted or withdrawn. */
export const isActivityPresent = sql`case
  when ${events.type} = 'comment.created' then exists (
    select 1 from ${timelineEntries} where ${timelineEntries.id} = ${commentId}
  )
  when ${events.type} glob 'issue.*' then exists (
    select 1 from ${issues} where ${issues.id} = ${issueId}
  )
  when ${events.type} = 'release.published' then exists (
    select 1 from ${releases} where ${releases.id} = ${releaseId} and not ${releases.isDraft}
  )
  else 1
end`;

/**
 * The issue, the comment and the release of an activity, as columns of a query over `events`. A comment is one value, since a result
 * has at most 100 columns.
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
  readonly files: readonly Attachment[];
  readonly releases: readonly Release[];
}

export function toActivitySubject(
  repo: RepositoryContext,
  {
    issue: [issue],
    comments: [comment],
    posters: [poster],
    files,
    releases: [release],
  }: SubjectRows,
): Pick<ActivityEntry, "issue" | "comment" | "release"> {
  const ofIssue = issue && { repo, row: issue };
  return {
    issue: ofIssue,
    release,
    comment: ofIssue && comment && { issue: ofIssue, row: comment, poster, attachments: files },
  };
}
