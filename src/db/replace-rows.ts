import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

import type { Database } from "./db.ts";

/**
 * The statement that changes columns of rows by writing the rows anew, under the same ids.
 *
 * An update leaves a row that it makes shorter where it is, and its page half empty for ever: only
 * a row that is deleted gives its page back. All entries in indexes are written again.
 *
 * @param changes The new values, by the names of the columns.
 */
export function replaceRows<T extends SQLiteTable>(
  db: Database,
  table: T,
  changes: Partial<Record<keyof T["$inferInsert"], SQL>>,
  where: SQL,
) {
  const columns = Object.entries(getTableColumns(table));
  const names = columns.map(([, { name }]) => sql.identifier(toSnakeCase(name)));
  const values = columns.map(([key, column]) => changes[key] ?? sql`${column}`);
  const rows = sql`select ${sql.join(values, sql`, `)} from ${table} where ${where}`;
  // Drizzle has no `or replace`, and takes no statement of its own words into a batch.
  return Object.assign(db.insert(table).select(rows), {
    getSQL: () => sql`insert or replace into ${table} (${sql.join(names, sql`, `)}) ${rows}`,
  });
}
