import { type SQL, sql } from "drizzle-orm";

import { repositories } from "../../../db/schema/index.ts";

/**
 * Repositories that one message ends. A deletion has some 40 statements, and an invocation a
 * thousand.
 */
export const ENDED_AT_ONCE = 20;

/** The condition that the schedule is to look at the end of a repository. */
export const isExpiryDue = (now: number): SQL => sql`(
  ${repositories.expiry} is not null and ${repositories.expiry} ->> '$.checkAt' <= ${now}
)`;
