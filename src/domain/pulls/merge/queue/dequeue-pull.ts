import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { columnsOf } from "../../../../db/db.ts";
import { ACCESS, mergeQueueEntries, mergeQueues, type User } from "../../../../db/schema/index.ts";
import { conflict, forbidden, notFound } from "../../../../lib/failure.ts";
import type { PullContext } from "../../../../shapes/pulls/pull-request.ts";
import { requireNotArchived } from "../../../issues/issue/require-issue-access.ts";
import { leaveStatements } from "./leave-queue.ts";

/**
 * Takes a pull request out of its merge queue.
 *
 * @throws Failure `not_found` if it is in none; `forbidden` for callers who neither queued it nor
 * administer the repository; `conflict` if it is just being merged; `locked` in an archived
 * repository.
 */
export async function dequeuePull(ctx: Ctx, pull: PullContext, user: User): Promise<void> {
  const { repo, row } = pull;
  const [found] = await ctx.db
    .select({ entry: columnsOf(mergeQueueEntries, "e"), queue: columnsOf(mergeQueues, "q") })
    .from(mergeQueueEntries)
    .innerJoin(mergeQueues, eq(mergeQueues.id, mergeQueueEntries.queueId))
    .where(eq(mergeQueueEntries.issueId, row.id));
  if (!found) throw notFound("the pull request is in no merge queue");
  if (found.entry.doerId !== user.id && repo.permission.mode < ACCESS.admin) {
    throw forbidden("only who queued the pull request and administrators take it out of the queue");
  }
  requireNotArchived(repo);
  const isLanding = sql`${mergeQueueEntries.isInBatch} and exists (
    select 1
    from ${mergeQueues}
    where ${mergeQueues.id} = ${found.queue.id} and ${mergeQueues.state} = 'landing'
  )`;
  const [endedBatch, deleted, ...records] = leaveStatements(
    ctx,
    { ...found, repo: repo.row, number: row.number },
    { reason: "left" },
    sql`not (${isLanding})`,
  );
  const results = await batch(ctx.db, { endedBatch, deleted, records });
  if (results.deleted.length === 0) throw conflict("the pull request is being merged");
}
