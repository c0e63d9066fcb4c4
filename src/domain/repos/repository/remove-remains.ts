import { asc, eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import {
  attachments,
  branchTips,
  codeComments,
  contentVersions,
  foreignItems,
  issueAssignees,
  issueDependencies,
  issueLabels,
  issueMentions,
  issues,
  issueSubscriptions,
  labels,
  mails,
  mergeQueueEntries,
  mergeQueues,
  milestones,
  notifications,
  pulls,
  reactions,
  releases,
  repositories,
  repositoryRemains,
  reviews,
  scheduledMerges,
  stopwatches,
  timelineEntries,
  trackedTimes,
  workflowRuns,
} from "../../../db/schema/index.ts";

/** How much one step removes. */
interface StepSize {
  /** Issues whose rows it removes. */
  readonly issues: number;
  /** Rows of each table: a statement of D1 ends after 30 seconds. */
  readonly rows: number;
}

const STEP: StepSize = { issues: 100, rows: 1000 };
/**
 * Steps that follow a request, steps of one run of the schedule, and repositories that it looks at.
 */
const REQUEST_STEPS_MAX = 20;
const SCHEDULE_STEPS_MAX = 100;
const SCHEDULE_REPOSITORIES_MAX = 20;

/** Tables with rows of issues; rows of comments go before the comments. */
const OF_ISSUES: readonly [SQLiteTable, SQLiteColumn][] = [
  [reactions, reactions.issueId],
  [contentVersions, contentVersions.issueId],
  [attachments, attachments.issueId],
  [notifications, notifications.issueId],
  [mails, mails.issueId],
  [codeComments, codeComments.issueId],
  [timelineEntries, timelineEntries.issueId],
  // References in other repositories.
  [timelineEntries, timelineEntries.otherIssueId],
  [reviews, reviews.issueId],
  [scheduledMerges, scheduledMerges.issueId],
  [mergeQueueEntries, mergeQueueEntries.issueId],
  [pulls, pulls.issueId],
  [trackedTimes, trackedTimes.issueId],
  [stopwatches, stopwatches.issueId],
  [issueLabels, issueLabels.issueId],
  [issueAssignees, issueAssignees.issueId],
  [issueMentions, issueMentions.issueId],
  [issueSubscriptions, issueSubscriptions.issueId],
  [issueDependencies, issueDependencies.issueId],
  [issueDependencies, issueDependencies.blockerId],
];

/**
 * Tables with rows of a repository, which are deleted once no issue refers to them; each after the
 * tables before it.
 */
const OF_REPOSITORIES: readonly [SQLiteTable, SQLiteColumn][] = [
  [notifications, notifications.repoId],
  [branchTips, branchTips.repoId],
  [foreignItems, foreignItems.repoId],
  [mergeQueues, mergeQueues.repoId],
  [workflowRuns, workflowRuns.repoId],
  [labels, labels.repoId],
  [milestones, milestones.repoId],
  // Of releases; those of issues are gone by then.
  [attachments, attachments.repoId],
  [releases, releases.repoId],
];

/**
 * The statements, by name, of one step that removes the remaining rows of a deleted repository:
 * rows of its first issues, issues without rows, and finally the rest. Safe to repeat, and in the
 * batch that deletes the repository. `completed` returns a row with the last step.
 */
export function removalStep({ db }: Ctx, repoId: number, size: StepSize = STEP) {
  // SECURITY: rows of a repository that exists stay.
  const isGone = sql`not exists (select 1 from ${repositories} where id = ${repoId})`;
  const first = sql`(
    select id
    from ${issues}
    where repo_id = ${repoId} and ${isGone}
    order by number
    limit ${size.issues}
  )`;
  const some = (table: SQLiteTable, isOne: SQL) =>
    db
      .delete(table)
      .where(sql`rowid in (select rowid from ${table} where ${isOne} limit ${size.rows})`);
  const hasNone = OF_ISSUES.map(
    ([table, column]) => sql`not exists (select 1 from ${table} where ${column} = ${issues.id})`,
  );
  const isOfThis = (column: SQLiteColumn) => eq(column, repoId);
  const isWithoutIssues = sql`not exists (
    select 1 from ${issues} left_issue where left_issue.repo_id = ${repoId}
  )`;
  const isEmpty = OF_REPOSITORIES.map(
    ([table, column]) => sql`not exists (select 1 from ${table} where ${isOfThis(column)})`,
  );
  return {
    ofIssues: OF_ISSUES.map(([table, column]) => some(table, sql`${column} in ${first}`)),
    issues: db.delete(issues).where(allOf(sql`${issues.id} in ${first}`, ...hasNone)),
    ofRepository: OF_REPOSITORIES.map(([table, column], at) =>
      some(table, allOf(isOfThis(column), isWithoutIssues, isGone, ...isEmpty.slice(0, at))),
    ),
    completed: db
      .delete(repositoryRemains)
      .where(allOf(isOfThis(repositoryRemains.repoId), isWithoutIssues, ...isEmpty))
      .returning(),
  };
}

/**
 * Removes the remaining rows of a deleted repository, in at most `steps` steps; the schedule
 * continues.
 *
 * @returns The number of steps that are left.
 */
export async function removeRemains(
  ctx: Ctx,
  repoId: number,
  steps = REQUEST_STEPS_MAX,
  size: StepSize = STEP,
): Promise<number> {
  const isLeft = ctx.db
    .select({ repoId: repositoryRemains.repoId })
    .from(repositoryRemains)
    .where(eq(repositoryRemains.repoId, repoId));
  for (let left = steps; left > 0; left--) {
    const { remaining } = await batch(ctx.db, {
      remaining: isLeft,
      ...removalStep(ctx, repoId, size),
    });
    if (remaining.length === 0) return left;
  }
  return 0;
}

/** Continues removals of which something is left. Safe to repeat and to run concurrently. */
export async function continueRemovals(ctx: Ctx): Promise<void> {
  const rows = await ctx.db
    .select()
    .from(repositoryRemains)
    .orderBy(asc(repositoryRemains.repoId))
    .limit(SCHEDULE_REPOSITORIES_MAX);
  let left = SCHEDULE_STEPS_MAX;
  for (const { repoId } of rows) {
    if (left === 0) return;
    left = await removeRemains(ctx, repoId, left);
  }
}
