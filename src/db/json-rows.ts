import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";

import { qualified } from "./db.ts";

/** Arguments of a function in D1, at most. */
const ARGUMENTS_MAX = 32;

/**
 * The rows of a subquery as one column of a query: lists what belongs to each row of a page without another round trip
 * and without repeating the page's query.
 *
 * @param table The table whose columns are selected; `from` must contain it under its own name.
 * @param from The clauses after the selected columns: `from … where … order by …`.
 */
export function jsonRows<T extends SQLiteTable>(
  table: T,
  from: SQL,
  name: string,
): SQL.Aliased<T["$inferSelect"][]> {
  const columns = Object.entries(getTableColumns(table));
  const parts: SQL[] = [];
  for (let at = 0; at < columns.length; at += ARGUMENTS_MAX) {
    const some = columns.slice(at, at + ARGUMENTS_MAX).map(([, column]) => sql`${column}`);
    parts.push(sql`json_array(${sql.join(some, sql`, `)})`);
  }
  const query = sql`(
    select json_group_array(json(selected.json_row))
    from (select json_array(${sql.join(parts, sql`, `)}) as json_row ${from}) selected
  )`;
  const decode = (value: unknown): T["$inferSelect"][] =>
    (JSON.parse(value as string) as unknown[][][]).map((row) => {
      const values = row.flat();
      const fields = columns.map(([key, column], at) => {
        const field = values[at];
        return [key, field === null ? null : column.mapFromDriverValue(field)];
      });
      return Object.fromEntries(fields) as T["$inferSelect"];
    });
  return qualified<T["$inferSelect"][]>(query).mapWith(decode).as(name);
}
