import { type SQL, sql } from "drizzle-orm";

import { quotePhrase } from "../../db/db.ts";
import { timelineEntries } from "../../db/schema/index.ts";
import { type IssueFilter, SEARCHED_PARTS } from "./issue-query.ts";

type TextFilter = Pick<IssueFilter, "words" | "parts">;

// The row id of a document has the issue's id in its upper half, and the comment's id or 0 in the lower one. Ids that a shard
// gave do not fit: such a document has its own id alone, of the issue or of the comment, and a mark.
const COMMENT_BITS = sql.raw("32");
const ISSUE_MARK = sql.raw("0x4000000000000000");
const COMMENT_MARK = sql.raw("0x6000000000000000");
const MARKED_ID = sql.raw("0x1fffffffffffffff");

/**
 * Documents that are looked at, the newest or the oldest, which bounds the cost of a common word: of each kind of row ids, and
 * issues in a shard apart from comments.
 */
const DOCUMENTS_MAX = 10_000;

export const hasText = ({ words }: TextFilter): boolean => words.length > 0;

/** Where and how the index is read. */
interface Matching {
  /** The condition on the words of the scope, in the syntax of the index, as a text in SQL; undefined for all repositories. */
  readonly scope: SQL | undefined;
  readonly isOldest: boolean;
  /** Whether repositories' own data is in several databases: each may have rows with ids of another one, from a repository that moved. */
  readonly isAmongMany: boolean;
}

/**
 * Selects the ids of issues with a document that has all words, in the order of ids: the newest first, or the oldest.
 *
 * The index finds whole words in any case and without accents. A number alone also finds the issue of that number.
 *
 * @param text What `searchTextOf` returns.
 */
export function matchingIssueIds(
  text: string | SQL,
  { scope, isOldest, isAmongMany }: Matching,
): SQL {
  const inScope = scope ? sql`${text} || ' AND scope : ' || ${scope}` : sql`${text}`;
  const order = sql.raw(isOldest ? "asc" : "desc");
  const documents = (id: SQL, words: SQL, isOfKind: SQL) => sql`
    select distinct ${id}
    from issues_search
    where issues_search match ${words} ${isOfKind}
    order by rowid ${order}
    limit ${sql.raw(String(DOCUMENTS_MAX))}`;
  const ofIssue = sql`rowid >> ${COMMENT_BITS} as id`;
  // They come in the order of issues as they are.
  if (!isAmongMany) return documents(ofIssue, inScope, sql``);
  const words = sql`(select text from words)`;
  const marked = sql`rowid & ${MARKED_ID} as id`;
  return sql`
    with words(text) as materialized (select ${inScope})
    select id from (
      select id from (${documents(ofIssue, words, sql`and rowid < ${ISSUE_MARK}`)})
      union
      select id from (
        ${documents(marked, words, sql`and rowid >= ${ISSUE_MARK} and rowid < ${COMMENT_MARK}`)}
      )
      union
      select ${timelineEntries.issueId}
      from (${documents(marked, words, sql`and rowid >= ${COMMENT_MARK}`)}) commented
      cross join ${timelineEntries} on ${timelineEntries.id} = commented.id
    )
    order by id ${order}
    -- All of them: what reads on keeps the order of a limited query.
    limit ${sql.raw(String(3 * DOCUMENTS_MAX))}`;
}

/** The scope of one repository. D1 binds an id as a real number, whose text would have a fraction. */
export const scopeOf = (repoId: number | SQL): SQL =>
  sql`('"r' || cast(${repoId} as integer) || '"')`;

/** The scope of the repositories that a query selects the ids of, as `id`; nothing is in the scope of none. */
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
