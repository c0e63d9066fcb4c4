import { toSnakeCase } from "drizzle-orm/casing";
import { integer, type SQLiteColumn, type SQLiteTable, sqliteTable } from "drizzle-orm/sqlite-core";

/** A table with columns of some names. */
export type DerivedTable<C extends string> = SQLiteTable & { readonly [K in C]: SQLiteColumn };

/**
 * The name and the columns, for templates, of a table that a statement makes itself: a common table
 * expression or a subquery. Drizzle's own (`$with`, `as`) take queries of its builder only, and
 * can't be `materialized` or recursive.
 *
 * The names of columns are written in snake case in SQL. Their types have no meaning: nothing is
 * decoded by them.
 *
 * @example
 * const sizes = derivedTable("sizes", "repoId", "size");
 * sql`with ${sizes} as materialized (select …) select ${sizes.size} from ${sizes}`
 */
export function derivedTable<const C extends string>(
  name: string,
  ...columns: readonly C[]
): DerivedTable<C> {
  // With explicit names: Drizzle keeps the cases of other names by table name, for all statements.
  const named = columns.map((column) => [column, integer(toSnakeCase(column))]);
  return sqliteTable(name, Object.fromEntries(named)) as unknown as DerivedTable<C>;
}
