import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

import { qualified } from "./db.ts";
import { type Decode, decodeOf } from "./row-mapper.ts";

/** Arguments of a function in D1, at most. */
const ARGUMENTS_MAX = 32;

/** A row of a table as one JSON value of a query; `readJsonRow` reads it. */
export function jsonRow(table: SQLiteTable): SQL {
  const columns = Object.values(getTableColumns(table));
  const parts: SQL[] = [];
  for (let at = 0; at < columns.length; at += ARGUMENTS_MAX) {
    const some = columns.slice(at, at + ARGUMENTS_MAX).map((column) => sql`${column}`);
    parts.push(sql`json_array(${sql.join(some, sql`, `)})`);
  }
  return sql`json_array(${sql.join(parts, sql`, `)})`;
}

/** Reads the parsed value of a `jsonRow`. */
export function readJsonRow<T extends SQLiteTable>(
  table: T,
  parts: readonly unknown[][],
): T["$inferSelect"] {
  const values = parts.flat();
  const row: Record<string, unknown> = {};
  for (const [at, { key, decode }] of fieldsOf(table).entries()) {
    const value = values[at];
    row[key] = value === null || !decode ? value : decode(value);
  }
  return row;
}

interface Field {
  readonly key: string;
  readonly decode: Decode | undefined;
}

const fieldsByTable = new WeakMap<SQLiteTable, readonly Field[]>();

/** The fields of a table's rows, in the order of `jsonRow`. */
function fieldsOf(table: SQLiteTable): readonly Field[] {
  let fields = fieldsByTable.get(table);
  if (!fields) {
    const columns = Object.entries(getTableColumns(table));
    fields = columns.map(([key, column]) => ({ key, decode: decodeOf(column) }));
    fieldsByTable.set(table, fields);
  }
  return fields;
}

/**
 * The rows of a subquery as one column of a query: lists what belongs to each row of a page without
 * another round trip and without repeating the page's query.
 *
 * @param table The table whose columns are selected; `from` must contain it under its own name.
 * @param from The clauses after the selected columns: `from … where … order by …`.
 */
export function jsonRows<T extends SQLiteTable>(
  table: T,
  from: SQL,
  name: string,
): SQL.Aliased<T["$inferSelect"][]> {
  const query = sql`(
    select json_group_array(json(selected.json_row))
    from (select ${jsonRow(table)} as json_row ${from}) selected
  )`;
  const decode = (value: unknown): T["$inferSelect"][] =>
    (JSON.parse(value as string) as unknown[][][]).map((row) => readJsonRow(table, row));
  return qualified<T["$inferSelect"][]>(query).mapWith(decode).as(name);
}
