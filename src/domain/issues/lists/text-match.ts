import { type SQL, sql } from "drizzle-orm";

import { quotePhrase } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type IssueFilter, SEARCHED_PARTS } from "./issue-query.ts";

type TextFilter = Pick<IssueFilter, "words" | "parts">;

/** The full-text index of issues and comments, which triggers fill. */
const issuesSearch = derivedTable("issues_search", "rowid");

/** Bits of a document's row id that are the comment's id; the others are the issue's. */
const COMMENT_BITS = 32;

/**
 * Maximum documents that are read, the newest or the oldest, which bounds the cost of a common
 * word.
 */
const DOCUMENTS_MAX = 10_000;

export const hasText = ({ words }: TextFilter): boolean => words.length > 0;

/** The part of the index that is read, and its order. */
interface Matching {
  /**
   * The condition on the words of the scope, in the syntax of the index, as a text in SQL;
   * undefined for all repositories.
   */
  readonly scope: SQL | undefined;
  readonly isOldest: boolean;
}

/** The issues that `matchingIssueIds` selects. */
export const matching = derivedTable("matching", "id");

/**
 * Selects the ids of issues with a document that has all words, in the order of ids: the newest
 * first, or the oldest.
 *
 * The index finds whole words in any case and without accents. A number alone also finds the issue
 * of that number.
 *
 * @param text What `searchTextOf` returns.
 */
export function matchingIssueIds(text: string | SQL, { scope, isOldest }: Matching): SQL {
  const inScope = scope ? sql`${text} || ' AND scope : ' || ${scope}` : sql`${text}`;
  const order = sql.raw(isOldest ? "asc" : "desc");
  return sql`
    select distinct ${issuesSearch.rowid} >> ${sql.raw(String(COMMENT_BITS))} as id
    from ${issuesSearch}
    where ${issuesSearch} match ${inScope}
    order by ${issuesSearch.rowid} ${order}
    limit ${sql.raw(String(DOCUMENTS_MAX))}`;
}

/**
 * The scope of one repository. D1 binds an id as a real number, whose text would have a fraction.
 */
export const scopeOf = (repoId: number | SQL): SQL =>
  sql`('"r' || cast(${repoId} as integer) || '"')`;

/**
 * The scope of the repositories that a query selects the ids of, as `id`; nothing is in the scope
 * of none.
 */
export const scopeOfSome = (repoIds: SQL): SQL => sql`(
  select '("r' || coalesce(group_concat(id, '" OR "r'), '0') || '")'
  from (${repoIds})
)`;

/** The words of a filter in the syntax of the index. */
export function searchTextOf({ words, parts }: TextFilter): string {
  const columns = (parts.length > 0 ? [...new Set(parts)] : SEARCHED_PARTS).join(" ");
  const inText = `{${columns}} : (${words.map(quotePhrase).join(" AND ")})`;
  const [number] =
    words.length === 1 ? (/^#?(\d{1,15})$/.exec(words[0] ?? "")?.slice(1) ?? []) : [];
  return number === undefined ? inText : `(${inText} OR scope : "n${Number(number)}")`;
}
