import { type SQL, sql } from "drizzle-orm";

import type { CopyKey } from "../schema/index.ts";
import type { CopiedTable } from "./copied-tables.ts";
import {
  columnOf,
  copiedValue,
  hasKey,
  isCopiedRow,
  isOfShard,
  sqlList,
  sqlName,
} from "./copy-sql.ts";

/** Rows of a page, and repositories of a page of a table about them. */
const ROWS_AT_ONCE = 500;
const REPOSITORIES_AT_ONCE = 100;
/** Arguments of a function in D1, at most. */
const ARGUMENTS_MAX = 32;

/**
 * Rows after one key and up to another; null is the first or the last. The key is that of the table, or for a table about repositories the
 * repository, so that the first database reads those of the shard alone.
 */
export interface CopyRange {
  readonly after: CopyKey | null;
  readonly end: CopyKey | null;
}

/** The row of one key, as one text: the same in a copy that is equal. */
export interface ComparedRow {
  readonly key: string;
  readonly row: string;
}

/** Compares the values of columns with a key. */
export function compareKey(
  columns: readonly SQL[],
  operator: ">" | "<=",
  key: CopyKey | null,
): SQL {
  if (key === null) return sql`1`;
  const values = key.map((value) => sql`${value}`);
  return sql`(${sqlList(columns)}) ${sql.raw(operator)} (${sqlList(values)})`;
}

const isWithin = (columns: readonly SQL[], { after, end }: CopyRange): SQL =>
  sql`${compareKey(columns, ">", after)} and ${compareKey(columns, "<=", end)}`;

/** Selects the end of the page after a key; no row for the last page. */
export function selectRangeEnd(table: CopiedTable, shardId: number, after: CopyKey | null): SQL {
  if (table.repository !== undefined) {
    return sql`
      select json_array(repo_id) as "end" from shard_repositories
      where shard_id = ${shardId} and ${compareKey([sqlName("repo_id")], ">", after)}
      order by repo_id limit 1 offset ${REPOSITORIES_AT_ONCE - 1}`;
  }
  const key = table.key.map(sqlName);
  return sql`
    select json_array(${sqlList(key)}) as "end" from ${sqlName(table.name)}
    where ${compareKey(key, ">", after)} and ${isCopiedRow(table)}
    order by ${sqlList(key)} limit 1 offset ${ROWS_AT_ONCE - 1}`;
}

/** Selects rows of a range, or of keys, as a shard is to have them. */
export function selectOriginals(
  table: CopiedTable,
  which: CopyRange | readonly string[],
  shardId: number,
): SQL {
  const value = (column: string) => copiedValue(table, column, shardId);
  if (isKeys(which)) {
    return selectRows(table, value, sql`${hasKey(table, which)} and ${isOfShard(table, shardId)}`);
  }
  if (table.repository === undefined) return selectRows(table, value, inRange(table, which));
  const repositories = sql`
    select repo_id from shard_repositories
    where shard_id = ${shardId} and ${isWithin([sqlName("repo_id")], which)}`;
  return selectRows(table, value, sql`${columnOf(table, table.repository)} in (${repositories})`);
}

/** Selects rows of a range, or of keys, of a copy. */
export const selectCopies = (table: CopiedTable, which: CopyRange | readonly string[]): SQL =>
  selectRows(
    table,
    (column) => columnOf(table, column),
    isKeys(which) ? hasKey(table, which) : inRange(table, which),
  );

const isKeys = (which: CopyRange | readonly string[]): which is readonly string[] =>
  Array.isArray(which);

function inRange(table: CopiedTable, range: CopyRange): SQL {
  const key = table.repository === undefined ? table.key : [table.repository];
  const columns = key.map((column) => columnOf(table, column));
  return sql`${isWithin(columns, range)} and ${isCopiedRow(table)}`;
}

/** Columns whose changes are not logged differ until another one changes, and are left out. */
function selectRows(table: CopiedTable, value: (column: string) => SQL, where: SQL): SQL {
  const parts: SQL[] = [];
  for (let at = 0; at < table.logged.length; at += ARGUMENTS_MAX) {
    parts.push(sql`json_array(${sqlList(table.logged.slice(at, at + ARGUMENTS_MAX).map(value))})`);
  }
  const key = table.key.map((column) => columnOf(table, column));
  return sql`
    select json_array(${sqlList(key)}) as "key", json_array(${sqlList(parts)}) as "row"
    from ${sqlName(table.name)} where ${where}`;
}
