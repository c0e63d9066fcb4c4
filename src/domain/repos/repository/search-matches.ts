import { sql, type SQL } from "drizzle-orm";

import { grantedRepositoryIds } from "../../../auth/access/granted-repositories.ts";
import { visibilitiesWithoutGrant } from "../../../auth/access/visible-repositories.ts";
import type { Principal, PrincipalSql } from "../../../auth/principal.ts";
import { allOf, anyOf, quotePhrase } from "../../../db/db.ts";
import type { Params } from "../../../db/prepared.ts";
import { repositories, repositoryTopics, topics } from "../../../db/schema/index.ts";
import type { RepositoryQuery } from "./repository-query.ts";

/**
 * Maximum number of matches considered, newest repositories first, which bounds the cost of a
 * common word.
 */
const MATCH_MAX = 1000;
/** Maximum number of words, or topics, in a query. */
const TOPICS_MAX = 5;
/** Minimum length in characters of a word that the trigram index can find. */
const INDEXED_MIN = 3;

/** The text of a query, taken apart. */
export interface SearchText {
  /** The words by their position; none where only topics are searched. At most `TOPICS_MAX`. */
  readonly words: Readonly<Record<number, Word>>;
  /** The names of topics by their position. At most `TOPICS_MAX`. */
  readonly topics: Readonly<Record<number, string>>;
  readonly topicNames: readonly string[];
}

/** A word of a query; all texts are in lower case where they are compared with names. */
interface Word {
  readonly text: string;
  /** The parts before and after its slash. */
  readonly slashed: { readonly owner: string; readonly name: string } | undefined;
  /**
   * The full-text queries for it, and for it among what the caller sees without a grant, if it is
   * long enough.
   */
  readonly indexed: { readonly match: string; readonly visible: string } | undefined;
  /** The bounds of names that begin with it, for a word that is too short for the index. */
  readonly beginning: { readonly least: string; readonly end: string } | undefined;
  /** Whether its description is searched. */
  readonly isDescriptionSearched: boolean;
}

/** Takes the text of a query apart; undefined without a text. */
export function parseSearchText(
  query: RepositoryQuery,
  principal: Principal,
): SearchText | undefined {
  if (query.text === "") return undefined;
  const topicNames = query.text.split(",", TOPICS_MAX).map((name) => name.trim().toLowerCase());
  const words = query.isTopic ? [] : topicNames.filter((text) => text !== "");
  return {
    words: Object.fromEntries(
      words.map((text, at) => [at, toWord(text, query, principal)] as const),
    ),
    topics: Object.fromEntries(topicNames.entries()),
    topicNames,
  };
}

function toWord(
  text: string,
  { isDescriptionSearched }: RepositoryQuery,
  principal: Principal,
): Word {
  const slash = text.indexOf("/");
  const name = text.slice(slash + 1);
  const slashed = slash < 0 ? undefined : { owner: text.slice(0, slash), name };
  const match = indexedText(text, slashed, isDescriptionSearched);
  const indexed =
    match === undefined ? undefined : { match, visible: withVisibility(match, principal) };
  const beginning = indexed ? undefined : { least: name, end: `${name}\u{10ffff}` };
  return { text, slashed, indexed, beginning, isDescriptionSearched };
}

/** The full-text query for the words that the index can find; undefined if all are too short. */
function indexedText(
  text: string,
  slashed: Word["slashed"],
  isDescriptionSearched: boolean,
): string | undefined {
  const isLong = (each: string) => [...each].length >= INDEXED_MIN;
  if (slashed) {
    const { owner, name } = slashed;
    const words = [
      isLong(owner) && `owner : ${quotePhrase(owner)}`,
      isLong(name) && `name : ${quotePhrase(name)}`,
    ];
    return words.filter(Boolean).join(" AND ") || undefined;
  }
  if (!isLong(text)) return undefined;
  const columns = isDescriptionSearched ? "{name description}" : "name";
  return `${columns} : ${quotePhrase(text)}`;
}

/** Narrows a full-text query to what the caller sees without a grant. */
function withVisibility(match: string, principal: Principal): string {
  // Three letters distinguish the visibilities and are one trigram; the full word would be several
  // to intersect.
  const isVisible = visibilitiesWithoutGrant(principal)
    .map((visibility) => `"${visibility.slice(0, INDEXED_MIN)}"`)
    .join(" OR ");
  return `visibility : (${isVisible}) AND ${match}`;
}

/**
 * Selects the ids of repositories that match any word of the text, by their name or by a topic: the
 * newest ones that the caller sees without a grant, and all that were granted to the caller.
 */
export function matches(principal: PrincipalSql, text: Params<SearchText>): SQL {
  const visibilities = visibilitiesWithoutGrant(principal);
  const granted = among(grantedRepositoryIds(principal), isMatch(text));
  const byName = Object.values(text.words).map((word) => newestOf(word, visibilities));
  const found = union([byTopic(text, visibilities), ...byName]);
  return sql`(${found} union all ${granted})`;
}

function newestOf(word: Params<Word>, visibilities: readonly string[]): SQL {
  const newest = byWord(word, visibilities);
  // Of two names separated by a slash, one may have been too short for the index.
  return word.slashed ? among(newest, matchesWord(word)) : sql`select id from (${newest})`;
}

// D1 limits the number of terms in a compound select.
const union = (parts: SQL[]): SQL =>
  parts.length === 0
    ? sql`select id from ${repositories} where 0`
    : sql`select id from (${sql.join(parts, sql` union all `)})`;

/** Selects the repositories among some ids that match a condition. */
const among = (ids: SQL, condition: SQL): SQL => sql`
  select id
  from ${repositories}
  where ${allOf(sql`${repositories.id} in (${ids})`, condition)}`;

function byWord({ indexed, beginning }: Params<Word>, visibilities: readonly string[]): SQL {
  if (!indexed) return beginning ? byBeginning(beginning, visibilities) : NONE;
  if (visibilities.length === 0) return NONE;
  // Text, as in `matchesWord`: Drizzle has no full-text tables.
  return sql`
    select rowid as id
    from repositories_search
    where repositories_search match ${indexed.visible}
    order by rowid desc
    limit ${MATCH_MAX}`;
}

const NONE = sql`select id from ${repositories} where 0`;

/**
 * Selects the newest repositories of each topic, by an index on topic, visibility and repository.
 */
function byTopic(text: Params<SearchText>, visibilities: readonly string[]): SQL {
  const max = sql.raw(String(MATCH_MAX));
  const ofTopic = (name: SQL): SQL =>
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
  return union(Object.values(text.topics).map(ofTopic));
}

/** Matches a word that is too short for the index by prefix of the name. */
function byBeginning(
  { least, end }: NonNullable<Params<Word>["beginning"]>,
  visibilities: readonly string[],
): SQL {
  const isVisible = sql`${repositories.visibility} in (
    select value from json_each(${JSON.stringify(visibilities)})
  )`;
  return sql`
    select id
    from ${repositories}
    where ${isVisible}
      and ${repositories.lowerName} >= ${least}
      and ${repositories.lowerName} < ${end}
    limit ${MATCH_MAX}`;
}

/**
 * The text of a query as a condition on a row.
 *
 * Descriptions are in any alphabet, and SQLite folds the case of ASCII letters only: the full-text
 * index matches them wherever it can.
 */
export function isMatch({ words, topicNames }: Params<SearchText>): SQL {
  const hasTopic = sql`exists (
      select 1
      from ${repositoryTopics}
      where repo_id = ${repositories.id}
        and topic_id in (
          select id
          from ${topics}
          where name in ${topicNames}
        )
    )`;
  return anyOf(hasTopic, ...Object.values(words).map(matchesWord));
}

/** The condition that the name, or the description where it is searched, contains a word. */
function matchesWord({ text, slashed, indexed, isDescriptionSearched }: Params<Word>): SQL {
  if (slashed) {
    return sql`(
      instr(${repositories.ownerLowerName}, ${slashed.owner})
      and instr(${repositories.lowerName}, ${slashed.name})
    )`;
  }
  const hasName = sql`instr(${repositories.lowerName}, ${text})`;
  if (!isDescriptionSearched) return hasName;
  // Drizzle has no full-text tables: `rowid` and `match` are known to SQLite alone.
  return indexed
    ? sql`exists (
      select 1
      from repositories_search
      where repositories_search match ${indexed.match} and rowid = ${repositories.id}
    )`
    : sql`(${hasName} or instr(lower(${repositories.description}), ${text}))`;
}
