import { asc, count, max, type SQL, sql } from "drizzle-orm";

import type { Database } from "../../../db/db.ts";
import { reactions } from "../../../db/schema/index.ts";

/** How often a reaction was given. */
export interface ReactionCount {
  readonly content: string;
  readonly count: number;
  /** Whether the caller gave it, too. */
  readonly isOwn: boolean;
}

/** A count with what was reacted to: a comment, or null for the issue itself. */
type CountOfEntry = ReactionCount & { readonly entryId: number | null };

/**
 * Selects how often reactions were given to each of some texts, the most frequent first. The query
 * lacks its condition.
 */
export function selectReactionCounts(db: Database, userId: number | SQL) {
  const total = count();
  return db
    .select({
      entryId: reactions.entryId,
      content: reactions.content,
      count: total.as("total"),
      isOwn: sql`${max(sql`${reactions.userId} = ${userId}`)}`.mapWith(Boolean).as("is_own"),
    })
    .from(reactions)
    .groupBy(reactions.entryId, reactions.content)
    .orderBy(sql`${total} desc`, asc(reactions.content))
    .$dynamic();
}

/** The counts for each text; null stands for the issue itself. */
export const groupReactions = (
  all: readonly CountOfEntry[],
): ReadonlyMap<number | null, readonly ReactionCount[]> =>
  Map.groupBy(all, ({ entryId }) => entryId);
