import { and, asc, eq, gt, type SQL } from "drizzle-orm";

import { accountActor } from "../../../auth/actor.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import type { Ctx } from "../../../context.ts";
import {
  issues,
  pulls,
  repositories,
  type ScheduledMerge,
  scheduledMerges,
  users,
} from "../../../db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../../events/consequence.ts";
import { Failure } from "../../../lib/failure.ts";
import { log } from "../../../lib/log.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import { findPull } from "../pull/find-pull.ts";
import { BaseBusy, mergePull, MergeQueueRequired } from "./merge-pull.ts";
import { enqueuePull } from "./queue/enqueue-pull.ts";

/** The scheduled merge behind which the next step continues. */
interface MergeState {
  readonly after: number;
}

/**
 * Makes scheduled merges once nothing is missing, by who scheduled them and with their present
 * rights; where the base has a merge queue it puts them into the queue. What still misses something
 * stays scheduled.
 *
 * Each step makes one merge. A merge that was made is scheduled no more, so a repeated step makes
 * none twice.
 */
export const runScheduledMerges: Consequence = {
  name: "scheduled-merges",
  kinds: [
    "commit_status.created",
    "review.submitted",
    "review.dismissed",
    "pull.merge_scheduled",
    "pull.synchronized",
    "pull.ready",
  ],
  async handle(ctx, { event }, budget, state) {
    const isConcerned = concernedBy(event);
    if (!isConcerned) return undefined;
    const { after } = (state as MergeState | undefined) ?? { after: 0 };
    budget.consume(1);
    const [found] = await ctx.db
      .select({ scheduled: scheduledMerges, number: issues.number, doer: users })
      .from(scheduledMerges)
      .innerJoin(pulls, eq(pulls.issueId, scheduledMerges.issueId))
      .innerJoin(issues, eq(issues.id, scheduledMerges.issueId))
      .innerJoin(users, eq(users.id, scheduledMerges.doerId))
      .where(and(isConcerned, eq(pulls.isClosed, false), gt(scheduledMerges.issueId, after)))
      .orderBy(asc(scheduledMerges.issueId))
      .limit(1);
    if (!found) return undefined;
    budget.consume(10);
    const actor = accountActor(found.doer);
    if (actor.user) await tryMerge({ ...ctx, actor }, found.scheduled, found.number);
    return { after: found.scheduled.issueId };
  },
};

/** The condition for the scheduled merges for which an event may bring what they miss. */
function concernedBy(event: RecordedEvent["event"]): SQL | undefined {
  switch (event.type) {
    case "commit_status.created":
      return and(eq(scheduledMerges.repoId, event.repoId), eq(pulls.headOid, event.commitOid));
    case "review.submitted":
    case "review.dismissed":
    case "pull.merge_scheduled":
    case "pull.synchronized":
    case "pull.ready":
      return eq(scheduledMerges.issueId, event.issueId);
    default:
      return undefined;
  }
}

/** Makes a scheduled merge, unless it is refused. */
async function tryMerge(
  ctx: Ctx,
  { repoId, issueId, style, title, message, isBranchDeleted }: ScheduledMerge,
  number: number,
): Promise<void> {
  const { user } = ctx.actor;
  const [row] = await selectRepositories(ctx.db, callerSql(ctx.actor)).where(
    eq(repositories.id, repoId),
  );
  if (!row || !user) return;
  try {
    const repo = toRepositoryContext(ctx.actor, row);
    const pull = await findPull(ctx, repo, number);
    const options = { style, title, message, isBranchDeleted };
    try {
      await mergePull(ctx, pull, user, { ...options, isAutomatic: true });
    } catch (error) {
      if (!(error instanceof MergeQueueRequired)) throw error;
      await enqueuePull(ctx, pull, user, { ...options, asksChecks: true });
    }
  } catch (error) {
    // If others keep updating the base, the event is retried.
    if (!(error instanceof Failure) || error instanceof BaseBusy) throw error;
    log("merge:still-scheduled", { issueId, reason: error.message });
  }
}
