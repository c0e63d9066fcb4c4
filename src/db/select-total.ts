import { sql, type SQL } from "drizzle-orm";

import type { Database } from "./db.ts";

/** Selects a total that is computed by subqueries, as the only row. */
export const selectTotal = (db: Database, total: SQL) =>
  db.select({ total: sql<number>`${total}`.as("total") }).from(sql`(select 1)`);
