import { and, eq, sql } from "drizzle-orm";

import { callerArgument, type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { hasOpenBlockers } from "../../../db/open-blockers.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, pulls, reviews, type ReviewState } from "../../../db/schema/index.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import { type DescribedStatus, selectLatestStatuses } from "./evaluate-checks.ts";
import { selectRules, toRules } from "./select-rules.ts";

/** The facts that decide whether a pull request may be merged. */
export interface MergeFacts {
  /** The rules of the repository of its base. */
  readonly rules: RepositoryRules;
  /** Whether it waits for an open issue or pull request. */
  readonly isBlocked: boolean;
  /** The official reviews that are not dismissed. */
  readonly reviews: readonly { state: ReviewState; isStale: boolean; count: number }[];
  /** The latest status of each context. */
  readonly statuses: readonly DescribedStatus[];
}

/** Loads what decides about a merge. Cost: one round trip to the database. */
export const loadMergeFacts = (ctx: Ctx, { repo, row }: PullContext): Promise<MergeFacts> =>
  loadMergeFactsOf(ctx, repo, row.number);

/**
 * The same for a pull request by its number; without reviews and statuses where there is none.
 *
 * @param number Of one that the caller may see.
 */
export async function loadMergeFactsOf(
  ctx: Ctx,
  repo: RepositoryContext,
  number: number,
): Promise<MergeFacts> {
  const subject = {
    caller: callerArgument(ctx.actor),
    repoId: repo.row.id,
    ownerId: repo.row.ownerId,
    number,
    isWaiting: repo.row.issueSettings.enableIssueDependencies,
  };
  const { rules, reviewCounts, statuses, blockers } = await batch(
    ctx.db,
    selectFacts(ctx.db, subject),
  );
  return {
    rules: toRules(repo.row, rules),
    reviews: reviewCounts,
    statuses,
    isBlocked: blockers.length > 0,
  };
}

interface FactsSubject {
  readonly caller: CallerArgument;
  readonly repoId: number;
  readonly ownerId: number;
  readonly number: number;
  readonly isWaiting: boolean;
}

const selectFacts = prepareAll((db, p: Params<FactsSubject>) => {
  const issueId = sql<number>`(
    select ${issues.id}
    from ${issues}
    where ${issues.repoId} = ${p.repoId} and ${issues.number} = ${p.number}
  )`;
  const headOid = sql<string>`(
    select ${pulls.headOid} from ${pulls} where ${pulls.issueId} = ${issueId}
  )`;
  return {
    rules: selectRules(db, p, toCallerSql(p.caller)),
    reviewCounts: db
      .select({
        state: reviews.state,
        isStale: reviews.isStale,
        count: sql<number>`count(*)`.as("review_count"),
      })
      .from(reviews)
      .where(
        and(
          eq(reviews.issueId, issueId),
          eq(reviews.isOfficial, true),
          eq(reviews.isDismissed, false),
        ),
      )
      .groupBy(reviews.state, reviews.isStale),
    statuses: selectLatestStatuses(db, p.repoId, headOid),
    blockers: db
      .select({ id: issues.id })
      .from(issues)
      .where(and(eq(issues.id, issueId), p.isWaiting ? hasOpenBlockers(issueId) : sql`false`)),
  };
});
