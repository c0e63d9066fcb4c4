import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { issueDependencies, issues, repositories } from "./schema/index.ts";

const dependency = alias(issueDependencies, "dependency");
const blocker = alias(issues, "blocker");

/**
 * The condition that an issue or pull request must wait for others. An issue of a deleted
 * repository blocks nothing.
 */
export const hasOpenBlockers = (issueId: SQL): SQL => sql`exists (
  select 1
  from ${issueDependencies} ${dependency}
  join ${issues} ${blocker} on ${blocker.id} = ${dependency.blockerId}
  join ${repositories} on ${repositories.id} = ${blocker.repoId}
  where ${dependency.issueId} = ${issueId} and not ${blocker.isClosed}
)`;
