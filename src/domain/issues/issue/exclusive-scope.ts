import { type SQL, sql } from "drizzle-orm";

/**
 * The exclusive scope of a row of labels, as SQL: its name up to the last slash, with that slash;
 * null for a label that is not exclusive, and where the last slash begins or ends the name.
 *
 * @param alias The name of the table in the query.
 */
export function exclusiveScopeSql(alias: string): SQL {
  const column = (name: string): SQL => sql`${sql.identifier(alias)}.${sql.identifier(name)}`;
  const name = column("name");
  // Removes every character but slashes from the end.
  const scope = sql`rtrim(${name}, replace(${name}, '/', ''))`;
  return sql`iif(${column("is_exclusive")} and ${scope} not in ('', '/', ${name}), ${scope}, null)`;
}
