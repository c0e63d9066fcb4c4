import { sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { crossShardDependencies, issueDependencies } from "../../db/schema/index.ts";

/** Maximum issues that one issue waits for. */
export const BLOCKERS_MAX = 100;

/** The number of issues that one waits for, with those that are being added across databases. */
export function countBlockers({ openShards }: Pick<Ctx, "openShards">, issueId: number): SQL {
  const near = sql`(
    select count(*) from ${issueDependencies} d where d.issue_id = ${issueId}
  )`;
  if (openShards().size === 0) return near;
  return sql`(${near} + (
    select count(*) from ${crossShardDependencies} d where d.issue_id = ${issueId}
  ))`;
}
