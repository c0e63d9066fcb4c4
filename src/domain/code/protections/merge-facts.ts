import { and, eq, sql } from "drizzle-orm";

import { callerArgument, type CallerArgument, toCallerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { hasOpenBlockers } from "../../../db/open-blockers.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { issues, reviews, type ReviewState } from "../../../db/schema/index.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import { type LatestStatus, selectLatestStatuses } from "./evaluate-checks.ts";
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
  readonly statuses: readonly LatestStatus[];
}

/** Loads what decides about a merge. Cost: one round trip to the database. */
export async function loadMergeFacts(
  ctx: Ctx,
  { repo, row, pull }: PullContext,
): Promise<MergeFacts> {
  const subject = {
    caller: callerArgument(ctx.actor),
    repoId: repo.row.id,
    ownerId: repo.row.ownerId,
    issueId: row.id,
    headOid: pull.headOid,
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
  readonly issueId: number;
  readonly headOid: string;
  readonly isWaiting: boolean;
}

const selectFacts = prepareAll((db, p: Params<FactsSubject>) => {
  const { issueId } = p;
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
    statuses: selectLatestStatuses(db, p.repoId, p.headOid),
    blockers: db
      .select({ id: issues.id })
      .from(issues)
      .where(and(eq(issues.id, issueId), p.isWaiting ? hasOpenBlockers(issueId) : sql`false`)),
  };
});
