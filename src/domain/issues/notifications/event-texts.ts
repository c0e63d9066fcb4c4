import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Database } from "../../../db/db.ts";
import { timelineEntries } from "../../../db/schema/index.ts";
import { isEntrySubmitted, WRITTEN_KINDS } from "../comments/written-entries.ts";

/** Maximum texts that are read of one review, which is more than a request can submit. */
const TEXTS_MAX = 200;

const written = alias(timelineEntries, "written");

/**
 * Selects the texts of an event, the first one first: a comment, or the text of a review and then
 * its comments on code.
 *
 * SECURITY: a pending review is visible to its author only.
 *
 * @param commentId Of a comment; 0 for other events.
 * @param reviewId  Of a review; 0 for other events.
 */
export const selectEventTexts = (
  db: Database,
  issueId: number | SQL,
  { commentId, reviewId }: { commentId: number | SQL; reviewId: number | SQL },
) =>
  db
    .select({ id: timelineEntries.id, body: timelineEntries.body })
    .from(timelineEntries)
    .where(
      and(
        eq(timelineEntries.issueId, issueId),
        sql`${timelineEntries.id} in (
          select ${commentId}
          union all
          select ${written.id}
          from ${timelineEntries} ${written}
          where ${written.reviewId} = ${reviewId}
        )`,
        inArray(timelineEntries.kind, WRITTEN_KINDS),
        isEntrySubmitted,
      ),
    )
    .orderBy(
      sql`${timelineEntries.kind} = 'code'`,
      sql`iif(${timelineEntries.kind} = 'code', ${timelineEntries.id}, -${timelineEntries.id})`,
    )
    .limit(TEXTS_MAX);
