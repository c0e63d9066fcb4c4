import { type SQL, sql } from "drizzle-orm";

import { issues } from "../../../db/schema/index.ts";

/** The rule of `isDraftTitle` as a condition on the `issues` rows of a query. */
export const hasDraftTitle: SQL = sql`(
  ${issues.title} like 'wip:%' or ${issues.title} like '[wip]%'
)`;
