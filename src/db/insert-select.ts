import { Column, getTableColumns, is, SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

import type { Database } from "./db.ts";

/** What a selected row holds: a value, or SQL over the tables of the `from`. */
type Selected<T extends SQLiteTable> = {
  [K in keyof T["$inferInsert"]]: T["$inferInsert"][K] | SQL | Column;
};

/**
 * An `insert … select` whose values are named, so that the order of a table's columns means nothing.
 *
 * Columns that are left out get their default, or null. A column without either must be named: the
 * type asks for it.
 *
 * @param from What follows the selected values: `from … where …`. With `onConflict…` it needs a `where`,
 * since SQLite would take the `on` for a join's.
 */
export function insertSelect<T extends SQLiteTable>(
  db: Database,
  table: T,
  row: Selected<T>,
  from: SQL,
) {
  const given = row as Readonly<Record<string, unknown>>;
  const values = Object.entries(getTableColumns(table)).map(([name, column]) =>
    toSql(given[name] === undefined ? column.default : given[name], column),
  );
  // Drizzle lists all columns of the table behind its name, in the order in which it has them.
  return db.insert(table).select(sql`select ${sql.join(values, sql`, `)} ${from}`);
}

function toSql(value: unknown, column: Column): SQL {
  if (value === null || value === undefined) return sql`null`;
  if (is(value, SQL) || is(value, Column)) return sql`${value}`;
  return sql`${sql.param(value, column)}`;
}
