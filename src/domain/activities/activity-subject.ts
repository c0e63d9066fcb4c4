import { sql } from "drizzle-orm";

import { jsonRows } from "../../db/json-rows.ts";
import {
  attachments,
  events,
  issues,
  timelineEntries,
  users,
  type Attachment,
  type Issue,
  type TimelineEntry,
  type User,
} from "../../db/schema/index.ts";
import type { ActivityEntry } from "../../shapes/events/activity.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

const issueId = sql`(${events.payload} ->> '$.issueId')`;
const commentId = sql`(${events.payload} ->> '$.commentId')`;

/** The condition on `events` that the issue or comment of an activity was not deleted. */
export const isActivityPresent = sql`case
  when ${events.type} = 'comment.created' then exists (
    select 1 from ${timelineEntries} where ${timelineEntries.id} = ${commentId}
  )
  when ${events.type} glob 'issue.*' then exists (
    select 1 from ${issues} where ${issues.id} = ${issueId}
  )
  else 1
end`;

/**
 * The issue and the comment of an activity, as columns of a query over `events`. A comment is one value, since a result
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
};

/** The values of `subjectColumns`. */
interface SubjectRows {
  readonly issue: readonly Issue[];
  readonly comments: readonly TimelineEntry[];
  readonly posters: readonly User[];
  readonly files: readonly Attachment[];
}

export function toActivitySubject(
  repo: RepositoryContext,
  { issue: [issue], comments: [comment], posters: [poster], files }: SubjectRows,
): Pick<ActivityEntry, "issue" | "comment"> {
  const ofIssue = issue && { repo, row: issue };
  return {
    issue: ofIssue,
    comment: ofIssue && comment && { issue: ofIssue, row: comment, poster, attachments: files },
  };
}
