import { sql, type SQL } from "drizzle-orm";

import { grantedRepositoryIds } from "../../auth/access/granted-repositories.ts";
import { visibilitiesWithoutGrant } from "../../auth/access/visible-repositories.ts";
import type { Ctx } from "../../context.ts";
import { allOf, quotePhrase } from "../../db/db.ts";
import { repositories, repositoryTopics, topics } from "../../db/schema/index.ts";
import type { RepositoryQuery } from "./repository-query.ts";

/** Matches of a word that are looked at, newest repositories first: what a common word costs. */
const MATCH_MAX = 1000;
/** Topics of one query. */
const TOPICS_MAX = 5;
/** Characters that the index of words can find at least. */
const INDEXED_MIN = 3;

/** Ids of the newest repositories with the text in them that everybody like the caller sees, and of what the caller was given. */
export function matches(ctx: Ctx, query: RepositoryQuery): SQL {
  const open = visibilitiesWithoutGrant(ctx.actor);
  const granted = among(grantedRepositoryIds(ctx.actor), query);
  if (query.isTopic) return sql`(${byTopic(query, open)} union all ${granted})`;
  const newest = indexedText(query) === undefined ? byBeginning(query, open) : byWord(query, open);
  // Of two words with a slash between, one may have been too short to be looked for.
  const found = query.text.includes("/") ? among(newest, query) : sql`select id from (${newest})`;
  return sql`(${found} union all ${granted})`;
}

/** The repositories of some ids that the text is in. */
const among = (ids: SQL, query: RepositoryQuery): SQL => sql`
  select id
  from ${repositories}
  where ${allOf(sql`${repositories.id} in (${ids})`, isMatch(query))}`;

/** The words of the query that the index can find, as it takes them. */
function indexedText(query: RepositoryQuery): string | undefined {
  const isLong = (text: string) => [...text].length >= INDEXED_MIN;
  const slash = query.text.indexOf("/");
  if (slash >= 0) {
    const [owner, name] = [query.text.slice(0, slash), query.text.slice(slash + 1)];
    const words = [
      isLong(owner) && `owner : ${quotePhrase(owner)}`,
      isLong(name) && `name : ${quotePhrase(name)}`,
    ];
    return words.filter(Boolean).join(" AND ") || undefined;
  }
  if (!isLong(query.text)) return undefined;
  const columns = query.isDescriptionSearched ? "{name description}" : "name";
  return `${columns} : ${quotePhrase(query.text)}`;
}

function byWord(query: RepositoryQuery, open: readonly string[]): SQL {
  if (open.length === 0) return sql`select id from ${repositories} where 0`;
  // Three letters tell visibilities apart and are one entry of the index; the word would be several to intersect.
  const isOpen = open.map((visibility) => `"${visibility.slice(0, INDEXED_MIN)}"`).join(" OR ");
  const text = `visibility : (${isOpen}) AND ${indexedText(query)}`;
  return sql`
    select rowid as id
    from repositories_search
    where repositories_search match ${text}
    order by rowid desc
    limit ${MATCH_MAX}`;
}

/** The topics of the query, which may be several with commas between. */
const topicsOf = (query: RepositoryQuery): string[] =>
  query.text.split(",", TOPICS_MAX).map((name) => name.trim().toLowerCase());

/** The newest repositories of each topic, by an index in their order below each visibility. */
function byTopic(query: RepositoryQuery, open: readonly string[]): SQL {
  const max = sql.raw(String(MATCH_MAX));
  // D1 takes few parts in one union.
  const union = (parts: SQL[]): SQL =>
    parts.length === 0
      ? sql`select id from ${repositories} where 0`
      : sql`select id from (${sql.join(parts, sql` union all `)})`;
  const ofTopic = (name: string): SQL =>
    union(
      open.map(
        (visibility) => sql`
          select id
          from (
            select repo_id as id
            from ${repositoryTopics}
            where topic_id = (select id from ${topics} where name = ${name})
              and visibility = ${visibility}
            order by repo_id desc
            limit ${max}
          )`,
      ),
    );
  return union(topicsOf(query).map(ofTopic));
}

/** Words too short for the index are found where a name begins with them. */
function byBeginning(query: RepositoryQuery, open: readonly string[]): SQL {
  const slash = query.text.indexOf("/");
  const text = query.text.slice(slash + 1).toLowerCase();
  const end = `${text}\u{10ffff}`;
  const isOpen = sql`${repositories.visibility} in (
    select value from json_each(${JSON.stringify(open)})
  )`;
  return sql`
    select id
    from ${repositories}
    where ${isOpen} and ${repositories.lowerName} >= ${text} and ${repositories.lowerName} < ${end}
    limit ${MATCH_MAX}`;
}

/**
 * The text as a condition on a row.
 *
 * Descriptions are in any alphabet, and SQLite folds the case of ASCII letters only: the index of
 * words judges them wherever it can.
 */
export function isMatch(query: RepositoryQuery): SQL | undefined {
  const text = query.text.toLowerCase();
  if (text === "") return undefined;
  if (query.isTopic) {
    return sql`exists (
      select 1
      from ${repositoryTopics}
      where repo_id = ${repositories.id}
        and topic_id in (
          select id
          from ${topics}
          where name in (select value from json_each(${JSON.stringify(topicsOf(query))}))
        )
    )`;
  }
  const slash = text.indexOf("/");
  if (slash >= 0) {
    return sql`(
      instr(${repositories.ownerLowerName}, ${text.slice(0, slash)})
      and instr(${repositories.lowerName}, ${text.slice(slash + 1)})
    )`;
  }
  const isNamed = sql`instr(${repositories.lowerName}, ${text})`;
  if (!query.isDescriptionSearched) return isNamed;
  const words = indexedText(query);
  return words === undefined
    ? sql`(${isNamed} or instr(lower(${repositories.description}), ${text}))`
    : sql`exists (
      select 1
      from repositories_search
      where repositories_search match ${words} and rowid = ${repositories.id}
    )`;
}
