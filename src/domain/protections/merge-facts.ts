import { and, eq, sql } from "drizzle-orm";

import { callerSql } from "../../auth/caller-sql.ts";
import type { Ctx } from "../../context.ts";
import { hasOpenBlockers } from "../../db/open-blockers.ts";
import {
  commitStatuses,
  issues,
  reviews,
  type CommitState,
  type ReviewState,
} from "../../db/schema/index.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { RepositoryRules } from "../../shapes/repos/repository-rules.ts";
import { selectRules, toRules } from "./select-rules.ts";

/** Contexts of a commit that are compared; with more the checks count as unfinished. */
export const CONTEXTS_MAX = 1000;

/** What is known of a pull request that decides about its merge. */
export interface MergeFacts {
  /** The rules of the repository of its base. */
  readonly rules: RepositoryRules;
  /** Whether it waits for an open issue or pull request. */
  readonly isBlocked: boolean;
  /** The official reviews that are not dismissed. */
  readonly reviews: readonly { state: ReviewState; isStale: boolean; count: number }[];
  /** The latest status of each context. */
  readonly statuses: readonly { context: string; state: CommitState }[];
}

/** Loads what decides about a merge. Cost: one round trip to the database. */
export async function loadMergeFacts(
  ctx: Ctx,
  { repo, row, pull }: PullContext,
): Promise<MergeFacts> {
  const owner = { repoId: sql`${repo.row.id}`, ownerId: sql`${repo.row.ownerId}` };
  const isOfHead = and(
    eq(commitStatuses.repoId, repo.row.id),
    eq(commitStatuses.commitOid, pull.headOid),
  );
  const isWaiting = repo.row.issueSettings.enableIssueDependencies;
  const [rules, counted, statuses, blockers] = await ctx.db.batch([
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
    ctx.db
      .select({ context: commitStatuses.context, state: commitStatuses.state })
      .from(commitStatuses)
      .where(
        and(
          isOfHead,
          sql`${commitStatuses.number} in (
            select max(${commitStatuses.number})
            from ${commitStatuses}
            where ${isOfHead}
            group by ${commitStatuses.context}
          )`,
        ),
      )
      .limit(CONTEXTS_MAX + 1),
    ctx.db
      .select({ id: issues.id })
      .from(issues)
      .where(and(eq(issues.id, row.id), isWaiting ? hasOpenBlockers(sql`${row.id}`) : sql`false`)),
  ]);
  return {
    rules: toRules(repo.row, rules),
    reviews: counted,
    statuses,
    isBlocked: blockers.length > 0,
  };
}
