import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Database } from "../../../db/db.ts";
import { timelineEntries } from "../../../db/schema/index.ts";
import { isEntrySubmitted, WRITTEN_KINDS } from "../comments/written-entries.ts";

/** Texts of one review that are read: more than one request brings. */
const TEXTS_MAX = 200;

const written = alias(timelineEntries, "written");

/**
 * Selects the texts that an event tells of, the first one first: a comment, or what a review says,
 * and then its comments on code.
 *
 * SECURITY: nobody but its author is told of a pending review.
 *
 * @param commentId Of a comment; 0 for other events.
 * @param reviewId  Of a review; 0 for other events.
 */
export const selectToldTexts = (
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
