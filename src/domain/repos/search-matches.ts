import { sql, type SQL } from "drizzle-orm";

import { grantedRepositoryIds } from "../../auth/access/granted-repositories.ts";
import { visibilitiesWithoutGrant } from "../../auth/access/visible-repositories.ts";
import type { Ctx } from "../../context.ts";
import { allOf, anyOf, quotePhrase } from "../../db/db.ts";
import { repositories, repositoryTopics, topics } from "../../db/schema/index.ts";
import type { RepositoryQuery } from "./repository-query.ts";

/** Maximum number of matches considered, newest repositories first, which bounds the cost of a common word. */
const MATCH_MAX = 1000;
/** Maximum number of words, or topics, in a query. */
const TOPICS_MAX = 5;
/** Minimum length in characters of a word that the trigram index can find. */
const INDEXED_MIN = 3;

/**
 * Selects the ids of repositories that match any word of the text, by their name or by a topic: the newest ones that the
 * caller sees without a grant, and all that were granted to the caller.
 */
export function matches(ctx: Ctx, query: RepositoryQuery): SQL {
  const visibilities = visibilitiesWithoutGrant(ctx.actor);
  const granted = among(grantedRepositoryIds(ctx.actor), query);
  const byName = query.isTopic ? [] : wordsOf(query).map((word) => newestOf(word, visibilities));
  const found = union([byTopic(query, visibilities), ...byName]);
  return sql`(${found} union all ${granted})`;
}

/** The query of each word of the text; words are separated by commas. */
const wordsOf = (query: RepositoryQuery): RepositoryQuery[] =>
  topicsOf(query).flatMap((text) => (text === "" ? [] : [{ ...query, text }]));

function newestOf(word: RepositoryQuery, visibilities: readonly string[]): SQL {
  const newest =
    indexedText(word) === undefined ? byBeginning(word, visibilities) : byWord(word, visibilities);
  // Of two names separated by a slash, one may have been too short for the index.
  return word.text.includes("/") ? among(newest, word) : sql`select id from (${newest})`;
}

// D1 limits the number of terms in a compound select.
const union = (parts: SQL[]): SQL =>
  parts.length === 0
    ? sql`select id from ${repositories} where 0`
    : sql`select id from (${sql.join(parts, sql` union all `)})`;

/** Selects the repositories among some ids that match the text. */
const among = (ids: SQL, query: RepositoryQuery): SQL => sql`
  select id
  from ${repositories}
  where ${allOf(sql`${repositories.id} in (${ids})`, isMatch(query))}`;

/** The full-text query for the words that the index can find; undefined if all are too short. */
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

function byWord(query: RepositoryQuery, visibilities: readonly string[]): SQL {
  if (visibilities.length === 0) return sql`select id from ${repositories} where 0`;
  // Three letters distinguish the visibilities and are one trigram; the full word would be several to
  // intersect.
  const isVisible = visibilities
    .map((visibility) => `"${visibility.slice(0, INDEXED_MIN)}"`)
    .join(" OR ");
  const text = `visibility : (${isVisible}) AND ${indexedText(query)}`;
  return sql`
    select rowid as id
    from repositories_search
    where repositories_search match ${text}
    order by rowid desc
    limit ${MATCH_MAX}`;
}

/** The topics of the query, separated by commas. */
const topicsOf = (query: RepositoryQuery): string[] =>
  query.text.split(",", TOPICS_MAX).map((name) => name.trim().toLowerCase());

/** Selects the newest repositories of each topic, by an index on topic, visibility and repository. */
function byTopic(query: RepositoryQuery, visibilities: readonly string[]): SQL {
  const max = sql.raw(String(MATCH_MAX));
  const ofTopic = (name: string): SQL =>
    union(
      visibilities.map(
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

/** Matches a word that is too short for the index by prefix of the name. */
function byBeginning(query: RepositoryQuery, visibilities: readonly string[]): SQL {
  const slash = query.text.indexOf("/");
  const text = query.text.slice(slash + 1).toLowerCase();
  const end = `${text}\u{10ffff}`;
  const isVisible = sql`${repositories.visibility} in (
    select value from json_each(${JSON.stringify(visibilities)})
  )`;
  return sql`
    select id
    from ${repositories}
    where ${isVisible}
      and ${repositories.lowerName} >= ${text}
      and ${repositories.lowerName} < ${end}
    limit ${MATCH_MAX}`;
}

/**
 * The text of a query as a condition on a row.
 *
 * Descriptions are in any alphabet, and SQLite folds the case of ASCII letters only: the full-text index
 * matches them wherever it can.
 */
export function isMatch(query: RepositoryQuery): SQL | undefined {
  if (query.text === "") return undefined;
  const hasTopic = sql`exists (
      select 1
      from ${repositoryTopics}
      where repo_id = ${repositories.id}
        and topic_id in (
          select id
          from ${topics}
          where name in (select value from json_each(${JSON.stringify(topicsOf(query))}))
        )
    )`;
  return query.isTopic ? hasTopic : anyOf(hasTopic, ...wordsOf(query).map(isNamed));
}

/** The condition that the name, or the description where it is searched, contains a word. */
function isNamed(query: RepositoryQuery): SQL {
  const text = query.text.toLowerCase();
  const slash = text.indexOf("/");
  if (slash >= 0) {
    return sql`(
      instr(${repositories.ownerLowerName}, ${text.slice(0, slash)})
      and instr(${repositories.lowerName}, ${text.slice(slash + 1)})
    )`;
  }
  const hasName = sql`instr(${repositories.lowerName}, ${text})`;
  if (!query.isDescriptionSearched) return hasName;
  const words = indexedText(query);
  return words === undefined
    ? sql`(${hasName} or instr(lower(${repositories.description}), ${text}))`
    : sql`exists (
      select 1
      from repositories_search
      where repositories_search match ${words} and rowid = ${repositories.id}
    )`;
}
