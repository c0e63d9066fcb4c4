import { and, asc, desc, gt, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { quotePhrase } from "../../db/db.ts";
import { type Topic, topics } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** Matches of a word that are looked at: what a common word costs. */
const MATCH_MAX = 1000;
/** How far the total of a list without a word is counted. */
const TOTAL_MAX = 10_000;
/** Characters that the index of words can find at least. */
const INDEXED_MIN = 3;

/**
 * Topics with a word in their names, those of the most repositories first.
 *
 * SECURITY: only those of public repositories: a name may tell what another is about.
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
  // The index of words reads a text up to its first NUL.
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
