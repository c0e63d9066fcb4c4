import { and, asc, desc, gt, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { quotePhrase } from "../../../db/db.ts";
import { selectTotal } from "../../../db/select-total.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type Topic, topics } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** Maximum number of matches considered, which bounds the cost of a common word. */
const MATCH_MAX = 1000;
/** Maximum total that is counted for a list without a search word. */
const TOTAL_MAX = 10_000;
/** Minimum length in characters of a word that the trigram index can find. */
const INDEXED_MIN = 3;

/**
 * Searches topics by a part of their names, sorted by number of repositories, most first.
 *
 * SECURITY: only topics of public repositories: a topic's name may reveal what a private repository
 * is about.
 */
export async function searchTopics(
  { db }: Ctx,
  text: string,
  { size, offset }: Slice,
): Promise<Listed<Topic>> {
  const word = text.trim().toLowerCase();
  // The full-text index reads a query only up to its first NUL.
  if (word.includes("\0")) return { items: [], total: 0 };
  const search = toSearch(word);
  return toListedPage(
    await batch(db, {
      rows: topicsFound(db, { search, size, offset }),
      counted: topicCount(db, { search }),
    }),
  );
}

/**
 * A search for topics: an interval of names, or a phrase of the full-text index.
 */
type Search = { readonly from: string; readonly to: string } | { readonly phrase: string };

function toSearch(word: string): Search | undefined {
  if (word === "") return undefined;
  return [...word].length < INDEXED_MIN
    ? { from: word, to: `${word}\u{10ffff}` }
    : { phrase: quotePhrase(word) };
}

interface Found {
  readonly search: Search | undefined;
}

const isFound = ({ search }: Params<Found>) =>
  and(gt(topics.repoCount, sql`0`), search && matches(search));

function matches(search: Params<Search>): SQL {
  // The index is named in text: Drizzle has no full-text tables.
  return "from" in search
    ? sql`${topics.id} in (
        select id
        from ${topics}
        where name >= ${search.from} and name < ${search.to}
        limit ${MATCH_MAX}
      )`
    : sql`${topics.id} in (
        select rowid
        from topics_search
        where topics_search match ${search.phrase}
        limit ${MATCH_MAX}
      )`;
}

const topicsFound = prepare((db, p: Params<Found & Slice>) =>
  db
    .select()
    .from(topics)
    .where(isFound(p))
    .orderBy(desc(topics.repoCount), asc(topics.name))
    .limit(p.size)
    .offset(p.offset),
);

const topicCount = prepare((db, p: Params<Found>) => {
  const some = sql`(select 1 from ${topics} where ${isFound(p)} limit ${TOTAL_MAX})`;
  return selectTotal(db, sql`(select count(*) from ${some})`);
});
