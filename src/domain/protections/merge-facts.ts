import { and, eq, sql } from "drizzle-orm";

import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { hasOpenBlockers } from "../../db/open-blockers.ts";
import { issues, reviews, type ReviewState } from "../../db/schema/index.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { RepositoryRules } from "../../shapes/repos/repository-rules.ts";
import { listOpenBlockers, selectFarBlockers } from "../blockers/open-blockers.ts";
import { type LatestStatus, selectLatestStatuses } from "./judge-checks.ts";
import { selectRules, toRules } from "./select-rules.ts";

/** What is known of a pull request that decides about its merge. */
export interface MergeFacts {
  /** The rules of the repository of its base. */
  readonly rules: RepositoryRules;
  /** Whether it waits for an open issue or pull request. */
  readonly isBlocked: boolean;
  /** The official reviews that are not dismissed. */
  readonly reviews: readonly { state: ReviewState; isStale: boolean; count: number }[];
  /** The latest status of each context. */
  readonly statuses: readonly LatestStatus[];
}

/**
 * Loads what decides about a merge.
 *
 * Cost: one round trip to the database; where the pull request waits for issues of other databases alone, that of their states.
 */
export async function loadMergeFacts(
  ctx: Ctx,
  { repo, row, pull }: PullContext,
): Promise<MergeFacts> {
  const owner = { repoId: sql`${repo.row.id}`, ownerId: sql`${repo.row.ownerId}` };
  const isWaiting = repo.row.issueSettings.enableIssueDependencies;
  const [rules, counted, statuses, blockers, far = []] = await ctx.db.batch([
    selectRules(ctx.db, owner, callerSql(ctx.actor)),
    ctx.db
      .select({
        state: reviews.state,
        isStale: reviews.isStale,
        count: sql<number>`count(*)`.as("review_count"),
      })
      .from(reviews)
      .where(
        and(
          eq(reviews.issueId, row.id),
          eq(reviews.isOfficial, true),
          eq(reviews.isDismissed, false),
        ),
      )
      .groupBy(reviews.state, reviews.isStale),
    selectLatestStatuses(ctx.db, repo.row.id, pull.headOid),
    ctx.db
      .select({ id: issues.id })
      .from(issues)
      .where(and(eq(issues.id, row.id), isWaiting ? hasOpenBlockers(sql`${row.id}`) : sql`false`)),
    ...(isWaiting && ctx.openShards().size > 0 ? [selectFarBlockers(ctx, row.id)] : []),
  ]);
  return {
    rules: toRules(repo.row, rules),
    reviews: counted,
    statuses,
    isBlocked: blockers.length > 0 || (await listOpenBlockers(ctx, far)).size > 0,
  };
}
