import { is, SQL, sql } from "drizzle-orm";

/** Stands for a field whose SQL belongs to a prepared query, where its values are collected. */
export const COMPUTED: SQL<never> = sql``;

/**
 * The id of the row that the previous statement of the batch inserted. Prepared statements can have
 * it as a field.
 */
export const LAST_INSERT_ID = sql<number>`last_insert_rowid()`;

/** Fields by whether they are values or known as SQL only. */
export function splitFields(fields: object) {
  const known: Record<string, unknown> = {};
  const computed: Record<string, SQL> = {};
  for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
    if (is(value, SQL)) computed[name] = value;
    else known[name] = value;
  }
  return { known, computed };
}

/** A JSON object of fields, some of which are known as SQL only. */
export function jsonOf(fields: object): SQL {
  const { known, computed } = splitFields(fields);
  return withFields(JSON.stringify(known), computed);
}

/**
 * A JSON object with more fields.
 *
 * @param json Its text.
 */
export const withFields = (json: string | SQL, more: Readonly<Record<string, SQL>>): SQL =>
  Object.entries(more).reduce(
    (object, [name, value]) => sql`json_set(${object}, ${`$.${name}`}, ${value})`,
    sql`${json}`,
  );
