import { and, eq, sql, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import { insertSelect } from "../../../../db/insert-select.ts";
import { issues, timelineEntries } from "../../../../db/schema/index.ts";
import type { ForeignComment } from "../../../../forges/forge.ts";
import { type ImportJob, presentUserId } from "../import-job.ts";
import { reactionsOf, toAuthor } from "./authors.ts";
import { reactionStatement } from "./issues.ts";
import {
  field,
  freshItem,
  freshItems,
  isImported,
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
export const importedIssue = (job: ImportJob): SQL =>
  sql`${job.ctx.db
    .select({ id: issues.id })
    .from(issues)
    .where(
      and(
        eq(issues.repoId, job.repoId),
        eq(issues.number, field("number")),
        isImported(job, "issue", issues.id),
      ),
    )}`;

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
    reserveIds(job, "comment", timelineEntries, rows, { isTaken }),
    insertSelect(
      job.ctx.db,
      timelineEntries,
      {
        id: freshItem.localId,
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
    reactionStatement(job, "comment", rows),
    settleItems(job, "comment", rows),
  ];
}
