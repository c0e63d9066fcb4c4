import { sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { insertSelect } from "../../../../db/insert-select.ts";
import { timelineEntries } from "../../../../db/schema/index.ts";
import type { ForeignComment } from "../../../../forges/forge.ts";
import { type ImportJob, presentUserId } from "../import-job.ts";
import { reactionsOf, toAuthor } from "./authors.ts";
import { reactionStatement } from "./issues.ts";
import {
  field,
  freshItems,
  reserveIds,
  settleItems,
  toStoredText,
  withoutRepeats,
} from "./page.ts";

/**
 * The id of the issue of an item's number; null if it did not come from there.
 *
 * SECURITY: an issue that somebody opened here may have the number by now. Nobody elsewhere writes
 * to it.
 */
export const importedIssue = ({ repoId }: ImportJob): SQL => sql`(
  select i.id
  from issues i
  where i.repo_id = ${repoId} and i.number = ${field("number")}
    and exists (
      select 1 from foreign_items known
      where known.repo_id = ${repoId} and known.kind = 'issue' and known.local_id = i.id
    )
)`;

/** A comment as it goes into statements. */
export const toCommentRow = (job: ImportJob, item: ForeignComment) => ({
  foreignId: item.foreignId,
  revision: String(item.updatedAt),
  number: item.number,
  ...toAuthor(job, item.poster),
  body: toStoredText(job, item.body, `a comment of ${item.number}`),
  createdAt: item.createdAt,
  updatedAt: item.updatedAt,
  reactions: reactionsOf(job, item.reactions),
});
export type CommentRow = ReturnType<typeof toCommentRow>;

/**
 * The statements that take comments which were not taken before, of issues and pull requests that
 * were.
 */
export function commentStatements(
  job: ImportJob,
  items: readonly CommentRow[],
): BatchItem<"sqlite">[] {
  const rows = withoutRepeats(items);
  if (rows.length === 0) return [];
  const issueId = importedIssue(job);
  const isTaken = sql`${issueId} is not null`;
  return [
    reserveIds(job, "comment", "timeline_entries", rows, { isTaken }),
    insertSelect(
      job.ctx.db,
      timelineEntries,
      {
        id: sql`fresh.local_id`,
        repoId: job.repoId,
        issueId,
        kind: "comment",
        posterId: presentUserId(field("posterId")),
        originalAuthor: field("originalAuthor"),
        originalAuthorId: field("originalAuthorId"),
        body: field("body"),
        createdAt: field("createdAt"),
        updatedAt: field("updatedAt"),
      },
      sql`${freshItems(job, "comment", rows)} order by item.key`,
    ),
    reactionStatement(job, "comment", rows, sql`e.issue_id`, sql`e.id`),
    settleItems(job, "comment", rows),
  ];
}
