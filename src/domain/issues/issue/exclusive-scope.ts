import { type SQL, sql } from "drizzle-orm";

import { labels } from "../../../db/schema/index.ts";

// Removes every character but slashes from the end.
const scope = sql`rtrim(${labels.name}, replace(${labels.name}, '/', ''))`;

/**
 * The exclusive scope of a row of labels, as SQL: its name up to the last slash, with that slash;
 * null for a label that is not exclusive, and where the last slash begins or ends the name.
 */
export const exclusiveScope: SQL = sql`iif(
  ${labels.isExclusive} and ${scope} not in ('', '/', ${labels.name}), ${scope}, null
)`;
