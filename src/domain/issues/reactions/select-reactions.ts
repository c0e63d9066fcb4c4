import { and, eq, isNull, type SQL } from "drizzle-orm";

import { columnsOf, type Database } from "../../../db/db.ts";
import { reactions, users } from "../../../db/schema/index.ts";
import type { CommentContext } from "../../../shapes/issues/comment.ts";
import type { IssueContext } from "../../../shapes/issues/issue.ts";

/** The subject of a reaction: an issue, a pull request, or a comment. */
export interface ReactionSubject {
  readonly issue: IssueContext;
  /** Undefined for a reaction to the issue itself. */
  readonly comment?: CommentContext;
}

export const selectReactions = (db: Database) =>
  db
    .select({ row: columnsOf(reactions, "r"), user: columnsOf(users, "u") })
    .from(reactions)
    .innerJoin(users, eq(users.id, reactions.userId))
    .$dynamic();

/** The condition for reactions to an issue itself. */
export const isReactionToIssue = (issueId: number | SQL): SQL | undefined =>
  and(eq(reactions.issueId, issueId), isNull(reactions.entryId));

/** The condition for reactions to a comment. */
export const isReactionToComment = (entryId: number | SQL): SQL => eq(reactions.entryId, entryId);
