import { and, eq, inArray, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import {
  type DequeueReason,
  type MergeQueue,
  type MergeQueueEntry,
  mergeQueueEntries,
  mergeQueues,
  type Repository,
} from "../../../../db/schema/index.ts";
import { recordIfChanged } from "../../../../events/record.ts";
import { insertEntryIfChanged } from "../../../issues/issue/insert-entry.ts";
import { RETRY_MS } from "./queued-pull.ts";

/** A pull request that leaves its queue. */
interface Leaving {
  readonly queue: Pick<MergeQueue, "id" | "branch">;
  readonly repo: Pick<Repository, "id" | "ownerId">;
  readonly entry: Pick<MergeQueueEntry, "id" | "issueId">;
  readonly number: number;
}

/** Why it leaves. */
export interface Departure {
  readonly reason: DequeueReason;
  /** The unmet rule or missing permission, for `refused`. */
  readonly detail?: string;
}

/**
 * The statements that take a pull request out of its queue, with the entry of its timeline and the
 * event. If it was in the batch, the batch ends. Repeated, they write nothing.
 *
 * @param condition What must hold besides.
 */
export function leaveStatements(
  ctx: Ctx,
  { queue, repo, entry, number }: Leaving,
  { reason, detail = "" }: Departure,
  condition?: SQL,
) {
  const { db, now } = ctx;
  const { issueId } = entry;
  const { id: repoId, ownerId } = repo;
  const isThis = and(eq(mergeQueueEntries.id, entry.id), condition);
  const subject = { repoId, ownerId, issueId, number };
  return [
    db
      .update(mergeQueues)
      .set({ state: "ending", dueAt: now + RETRY_MS })
      .where(
        and(
          eq(mergeQueues.id, queue.id),
          inArray(mergeQueues.state, ["building", "testing", "landing"]),
          sql`exists (
            select 1 from ${mergeQueueEntries} where ${isThis} and ${mergeQueueEntries.isInBatch}
          )`,
        ),
      ),
    db.delete(mergeQueueEntries).where(isThis).returning({ id: mergeQueueEntries.id }),
    insertEntryIfChanged(ctx, {
      kind: "pull_dequeued",
      repoId,
      issueId,
      body: detail === "" ? reason : `${reason}: ${detail}`,
    }),
    recordIfChanged(ctx, {
      type: "pull.dequeued",
      ...subject,
      branch: queue.branch,
      reason,
      detail,
    }),
  ] as const;
}

/**
 * The statement that ends a batch as long as it is in this state. Its branch is deleted by the next
 * step.
 */
export const endStatement = ({ db, now }: Ctx, { id, state, batchNumber }: MergeQueue) =>
  db
    .update(mergeQueues)
    .set({ state: "ending", dueAt: now + RETRY_MS })
    .where(
      and(
        eq(mergeQueues.id, id),
        eq(mergeQueues.state, state),
        eq(mergeQueues.batchNumber, batchNumber),
      ),
    );
