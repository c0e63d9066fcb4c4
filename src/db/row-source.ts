import { type Column, getTableColumns, type SQL, sql } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

import type { Database } from "./db.ts";

/** Rows of a table that an `insert … select` copies: of the same database, or as JSON that was read from another one. */
export interface RowSource<T extends SQLiteTable> {
  /** The columns, by their names in the table. */
  readonly columns: { readonly [K in keyof T["$inferSelect"]]: SQL | Column };
  /** The clauses after the selected values. */
  readonly from: SQL;
}

/** Which rows are copied, and how many at most. They keep the order of their ids. */
export interface RowRange {
  readonly isCopied: SQL;
  readonly countMax: number;
}

/** Rows that are read at once, and bytes of JSON of one parameter, of which D1 takes 2 MB. */
const ROWS_AT_ONCE = 1000;
const JSON_CHARS_MAX = 400_000;

/** Rows of the database that copies them. */
export const rowsOfTable = <T extends SQLiteTable>(
  table: T,
  { isCopied, countMax }: RowRange,
): RowSource<T> => ({
  columns: getTableColumns(table),
  from: sql`from ${table} where ${isCopied} order by id limit ${countMax}`,
});

/** Reads rows for another database, page by page. Their values are texts, integers and null. */
export async function readRows<T extends SQLiteTable>(
  db: Database,
  table: T,
  { isCopied, countMax }: RowRange,
): Promise<RowSource<T>[]> {
  const columns = jsonColumns(table);
  const sources: RowSource<T>[] = [];
  let after = 0;
  for (let left = countMax; left > 0;) {
    const limit = Math.min(left, ROWS_AT_ONCE);
    const rows = await db.all<{ id: number }>(sql`
      select * from ${table} where ${isCopied} and id > ${after} order by id limit ${limit}`);
    sources.push(
      ...toParameters(rows).map((json) => ({
        columns,
        from: sql`from json_each(${json}) order by key`,
      })),
    );
    const last = rows.at(-1);
    if (!last || rows.length < limit) break;
    after = last.id;
    left -= rows.length;
  }
  return sources;
}

function jsonColumns<T extends SQLiteTable>(table: T): RowSource<T>["columns"] {
  const columns = Object.keys(getTableColumns(table)).map((name) => [
    name,
    sql`value ->> ${sql.raw(`'$.${toSnakeCase(name)}'`)}`,
  ]);
  return Object.fromEntries(columns) as RowSource<T>["columns"];
}

/** Rows as JSON lists, each of which is one parameter. */
function toParameters(rows: readonly object[]): string[] {
  const lists: string[][] = [];
  let chars = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    const list = lists.at(-1);
    if (list && chars + text.length <= JSON_CHARS_MAX) {
      list.push(text);
      chars += text.length;
    } else {
      lists.push([text]);
      chars = text.length;
    }
  }
  return lists.map((list) => `[${list.join()}]`);
}
