import { eq, sql } from "drizzle-orm";

import { columnsOf, type Database } from "../../../db/db.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import { attachments, issues, timelineEntries, users } from "../../../db/schema/index.ts";
import type { CommentContext } from "../../../shapes/issues/comment.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/**
 * The condition for the entries of a timeline that are comments, in the words of the partial
 * indexes.
 */
export const isComment = sql`${timelineEntries.kind} = 'comment'`;

/** The files of an entry, as a column of a query over `timelineEntries`. */
export const attachmentsOfEntry = (alias: string) =>
  jsonRows(
    attachments,
    sql`
      from ${attachments}
      where ${attachments.entryId} = ${timelineEntries.id}
      order by ${attachments.id}`,
    alias,
  );

/**
 * Selects entries of timelines with everything that the JSON of a comment shows; one query, any
 * number of rows.
 *
 * Entries of all kinds match: use `isComment`.
 */
export const selectComments = (db: Database) =>
  db
    .select({
      comment: columnsOf(timelineEntries, "c"),
      poster: columnsOf(users, "p"),
      number: sql`${issues.number}`.mapWith(issues.number).as("i_number"),
      isPull: sql`${issues.isPull}`.mapWith(issues.isPull).as("i_isPull"),
      attachments: attachmentsOfEntry("c_attachments"),
    })
    .from(timelineEntries)
    .innerJoin(issues, eq(issues.id, timelineEntries.issueId))
    .leftJoin(users, eq(users.id, timelineEntries.posterId))
    .$dynamic();

/** A row of `selectComments`. */
export type CommentQueryRow = Awaited<ReturnType<typeof selectComments>>[number];

// The left join returns columns of nulls for a deleted account.
export const toCommentContext = (
  repo: RepositoryContext,
  { comment, poster, number, isPull, ...lists }: CommentQueryRow,
): CommentContext => ({
  issue: { repo, row: { number, isPull } },
  row: comment,
  poster: comment.posterId === null ? undefined : (poster ?? undefined),
  ...lists,
});
