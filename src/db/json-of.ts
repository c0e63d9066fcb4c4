import { is, SQL, sql } from "drizzle-orm";

/** A JSON object of fields, some of which are known as SQL only. */
export function jsonOf(fields: object): SQL {
  const known = Object.entries(fields).filter(([, value]) => !is(value, SQL));
  const computed = Object.entries(fields).filter(([, value]) => is(value, SQL));
  return computed.reduce(
    (json, [name, value]) => sql`json_set(${json}, ${`$.${name}`}, ${value})`,
    sql`${JSON.stringify(Object.fromEntries(known))}`,
  );
}
