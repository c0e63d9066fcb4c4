import { Column, getTableColumns, is, SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

import type { Database } from "./db.ts";

/** The values of a selected row: plain values, or SQL over the tables of `from`. */
type Selected<T extends SQLiteTable> = {
  [K in keyof T["$inferInsert"]]: T["$inferInsert"][K] | SQL | Column;
};

/**
 * An `insert … select` whose values are named, so that it does not depend on the order of the
 * table's columns.
 *
 * Omitted columns get their default, or null. The type requires a value for a column that has
 * neither.
 *
 * @param from The clauses after the selected values: `from … where …`. With `onConflict…` it needs
 * a `where`, since SQLite would parse the `on` as part of a join.
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
  // Drizzle's statement lists all columns of the table after its name, in the table's order.
  return db.insert(table).select(sql`select ${sql.join(values, sql`, `)} ${from}`);
}

function toSql(value: unknown, column: Column): SQL {
  if (value === null || value === undefined) return sql`null`;
  if (is(value, SQL) || is(value, Column)) return sql`${value}`;
  return sql`${sql.param(value, column)}`;
}
