import { type Column, getTableColumns } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

/** A row, or a part of it, as an argument of a prepared query: each value as D1 stores it. */
export type BoundRow<R> = { readonly [K in keyof R]: string | number | null };

/**
 * The values of a row for a prepared query, which binds parameters as they are: JSON as its text,
 * and booleans as numbers.
 */
export function boundRow<R extends object>(table: SQLiteTable, row: R): BoundRow<R> {
  const columns = getTableColumns(table) as Readonly<Record<string, Column>>;
  const values = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined) return [];
    return [[name, value === null ? null : columns[name]?.mapToDriverValue(value)]];
  });
  return Object.fromEntries(values) as BoundRow<R>;
}
