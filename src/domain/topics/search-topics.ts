import { and, asc, desc, gt, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { quotePhrase } from "../../db/db.ts";
import { type Topic, topics } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** Maximum number of matches considered, which bounds the cost of a common word. */
const MATCH_MAX = 1000;
/** Maximum total that is counted for a list without a search word. */
const TOTAL_MAX = 10_000;
/** Minimum length in characters of a word that the trigram index can find. */
const INDEXED_MIN = 3;

/**
 * Searches topics by a part of their names, sorted by number of repositories, most first.
 *
 * SECURITY: only topics of public repositories: a topic's name may reveal what a private repository is about.
 */
export async function searchTopics(
  { db }: Ctx,
  text: string,
  { size, offset }: Slice,
): Promise<Listed<Topic>> {
  const isFound = and(gt(topics.repoCount, sql`0`), matches(text.trim().toLowerCase()));
  const some = sql`(select 1 from ${topics} where ${isFound} limit ${TOTAL_MAX})`;
  const [items, [counted]] = await db.batch([
    db
      .select()
      .from(topics)
      .where(isFound)
      .orderBy(desc(topics.repoCount), asc(topics.name))
      .limit(size)
      .offset(offset),
    db
      .select({ total: sql<number>`(select count(*) from ${some})`.as("total") })
      .from(sql`(select 1)`),
  ]);
  return { items, total: counted?.total ?? 0 };
}

function matches(text: string) {
  if (text === "") return undefined;
  // The full-text index reads a query only up to its first NUL.
  if (text.includes("\0")) return sql`0`;
  if ([...text].length < INDEXED_MIN) {
    return sql`${topics.id} in (
      select id
      from ${topics}
      where name >= ${text} and name < ${`${text}\u{10ffff}`}
      limit ${MATCH_MAX}
    )`;
  }
  return sql`${topics.id} in (
    select rowid
    from topics_search
    where topics_search match ${quotePhrase(text)}
    limit ${MATCH_MAX}
  )`;
}
