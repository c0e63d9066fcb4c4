import { and, asc, eq, gt, inArray, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { columnsOf } from "../../../../db/db.ts";
import {
  events,
  issues,
  mergeQueueEntries,
  mergeQueues,
  pulls,
  repositories,
} from "../../../../db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../../../events/consequence.ts";
import type { WorkBudget } from "../../../../lib/work-budget.ts";
import { advanceQueue } from "./advance-queue.ts";
import { leaveStatements } from "./leave-queue.ts";
import { findDeparture } from "./open-queue-entry.ts";

/**
 * The queue that the next step looks at, whatever state it is in by then; or the one behind which
 * it looks for another.
 */
type AdvanceState = { readonly queueId: number } | { readonly after: number };

/**
 * Continues merge queues after what they wait for: a pull request that is queued or leaves, a
 * status of a result, a push to a base. A pull request that is no longer what was queued leaves its
 * queue.
 */
export const advanceMergeQueues: Consequence = {
  name: "merge-queues",
  kinds: [
    "pull.enqueued",
    "pull.dequeued",
    "pull.synchronized",
    "pull.retargeted",
    "pull.merged",
    "issue.closed",
    "issue.edited",
    "issue.deleted",
    "commit_status.created",
    "repository.pushed",
  ],
  // A queue that is made later looks at its base itself.
  isNeeded: sql`case
    when ${events.type} in ('repository.pushed', 'commit_status.created')
      then exists (select 1 from ${mergeQueues} where ${mergeQueues.repoId} = ${events.repoId})
    when ${events.type} glob 'issue.*' then ${events.payload} ->> 'isPull'
    else 1
  end`,
  async handle(ctx, { event }, budget, state) {
    const isConcerned = concernedBy(event);
    if (!isConcerned) return undefined;
    const at = (state as AdvanceState | undefined) ?? { after: 0 };
    if (state === undefined && "issueId" in event) {
      await dropChanged(ctx, event.issueId, budget);
    }
    const queueId =
      "queueId" in at ? at.queueId : await findNext(ctx, isConcerned, at.after, budget);
    if (queueId === undefined) return undefined;
    const progress = await advanceQueue(ctx, queueId, budget);
    return progress === "more" ? { queueId } : { after: queueId };
  },
};

/** The first concerned queue behind one. */
async function findNext(
  { db }: Ctx,
  isConcerned: SQL,
  after: number,
  budget: WorkBudget,
): Promise<number | undefined> {
  budget.consume(1);
  const [queue] = await db
    .select({ id: mergeQueues.id })
    .from(mergeQueues)
    .where(and(isConcerned, gt(mergeQueues.id, after)))
    .orderBy(asc(mergeQueues.id))
    .limit(1);
  return queue?.id;
}

const HEADS = "refs/heads/";

/** The condition for the queues that an event may concern; undefined for none. */
function concernedBy(event: RecordedEvent["event"]): SQL | undefined {
  const { repoId } = event;
  const isOfRepository = eq(mergeQueues.repoId, repoId ?? 0);
  switch (event.type) {
    case "commit_status.created":
      return and(isOfRepository, eq(mergeQueues.resultOid, event.commitOid));
    case "repository.pushed": {
      const branches = event.updates.flatMap(({ ref }) =>
        ref.startsWith(HEADS) ? [ref.slice(HEADS.length)] : [],
      );
      return branches.length > 0
        ? and(isOfRepository, inArray(mergeQueues.branch, branches))
        : undefined;
    }
    case "pull.enqueued":
    case "pull.dequeued":
      return and(isOfRepository, eq(mergeQueues.branch, event.branch));
    case "issue.closed":
    case "issue.edited":
      return event.isPull ? isQueueOf(event.issueId) : undefined;
    case "pull.synchronized":
    case "pull.retargeted":
    case "pull.merged":
      return isQueueOf(event.issueId);
    case "issue.deleted":
      // No other event follows if the deleted pull request was in a batch.
      return event.isPull ? isOfRepository : undefined;
    default:
      return undefined;
  }
}

const isQueueOf = (issueId: number): SQL => sql`${mergeQueues.id} = (
  select ${mergeQueueEntries.queueId}
  from ${mergeQueueEntries}
  where ${mergeQueueEntries.issueId} = ${issueId}
)`;

/** Takes a pull request out of its queue if it is not any more what was queued. */
async function dropChanged(ctx: Ctx, issueId: number, budget: WorkBudget): Promise<void> {
  budget.consume(1);
  const [found] = await ctx.db
    .select({
      entry: columnsOf(mergeQueueEntries, "e"),
      queue: columnsOf(mergeQueues, "q"),
      pull: columnsOf(pulls, "p"),
      row: columnsOf(issues, "i"),
      ownerId: columnsOf(repositories, "repo").ownerId,
    })
    .from(mergeQueueEntries)
    .innerJoin(mergeQueues, eq(mergeQueues.id, mergeQueueEntries.queueId))
    .innerJoin(pulls, eq(pulls.issueId, mergeQueueEntries.issueId))
    .innerJoin(issues, eq(issues.id, mergeQueueEntries.issueId))
    .innerJoin(repositories, eq(repositories.id, issues.repoId))
    .where(eq(mergeQueueEntries.issueId, issueId));
  if (!found) return;
  const { entry, queue, pull, row } = found;
  // The queue's own merge: what is left to do is done by its batch.
  if (pull.mergedAt !== null && pull.mergeCommitOid === entry.resultOid) return;
  const present = { row, pull, headTip: undefined };
  const reason = findDeparture(entry.headOid, queue.branch, present);
  if (reason === undefined) return;
  budget.consume(4);
  const repo = { id: row.repoId, ownerId: found.ownerId };
  const leaving = { queue, repo, entry, number: row.number };
  await ctx.db.batch(leaveStatements(ctx, leaving, { reason }));
}
