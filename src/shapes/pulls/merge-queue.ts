import { z } from "@hono/zod-openapi";

import {
  type MergeQueue as MergeQueueRow,
  type MergeQueueEntry as MergeQueueEntryRow,
  MERGE_QUEUE_STATES,
  MERGE_STYLES,
  type User as UserRow,
} from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";
import { toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

export const MergeQueueEntry = z
  .object({
    number: Int64.openapi({ description: "The number of the pull request" }),
    branch: z.string().openapi({ description: "The base" }),
    position: Int64.openapi({ description: "From 1" }),
    state: z.enum(["waiting", ...MERGE_QUEUE_STATES]).openapi({
      description: "That of the batch which it is in, or `waiting`",
    }),
    style: z.enum(MERGE_STYLES),
    head_sha: z.string().openapi({ description: "The head that was queued" }),
    result_sha: z.string().openapi({
      description: "The commit that the base becomes by it; empty while that is not known",
    }),
    enqueued_by: User,
    enqueued_at: Time,
  })
  .openapi("MergeQueueEntry");

const Batch = z.object({
  number: Int64.openapi({ description: "Increases with each batch of the queue" }),
  size: Int64.openapi({ description: "The number of its pull requests, the first of the queue" }),
  base_sha: z.string().openapi({ description: "The value of the base on which it is built" }),
  commit_sha: z.string().openapi({
    description: "The commit whose statuses decide; empty while it is built",
  }),
  deadline: TimeOrNull.openapi({
    description: "When checks that are not reported by then count as failed",
  }),
});

export const MergeQueue = z
  .object({
    branch: z.string(),
    state: z.enum(MERGE_QUEUE_STATES),
    length: Int64.openapi({ description: "The number of pull requests in the queue" }),
    batch: Batch.nullable().openapi({ description: "What is built, tested or merged now" }),
  })
  .openapi("MergeQueue");

export const MergeQueueWithEntries = MergeQueue.extend({
  entries: z.array(MergeQueueEntry).openapi({ description: "A page of them, first to last" }),
}).openapi("MergeQueueWithEntries");

/** A merge queue as queries return it. */
export interface MergeQueueContext {
  readonly queue: MergeQueueRow;
  readonly length: number;
}

/** A pull request in a merge queue as queries return it. */
export interface MergeQueueEntryContext {
  readonly entry: MergeQueueEntryRow;
  readonly queue: MergeQueueRow;
  readonly doer: UserRow;
  readonly number: number;
  readonly position: number;
}

/** Formats a merge queue. */
export function toMergeQueue({ queue, length }: MergeQueueContext): z.infer<typeof MergeQueue> {
  const hasBatch = queue.state !== "idle" && queue.state !== "ending";
  return {
    branch: queue.branch,
    state: queue.state,
    length,
    batch: hasBatch
      ? {
          number: queue.batchNumber,
          size: queue.batchSize,
          base_sha: queue.baseOid,
          commit_sha: queue.resultOid,
          deadline: formatTimeOrNull(queue.state === "testing" ? queue.deadlineAt : null),
        }
      : null,
  };
}

/** Formats a pull request in a merge queue for `viewer`. */
export const toMergeQueueEntry = (
  { entry, queue, doer, number, position }: MergeQueueEntryContext,
  viewer: Viewer,
): z.infer<typeof MergeQueueEntry> => ({
  number,
  branch: queue.branch,
  position,
  state: entry.isInBatch ? queue.state : "waiting",
  style: entry.style,
  head_sha: entry.headOid,
  result_sha: entry.isInBatch ? entry.resultOid : "",
  enqueued_by: toUser(doer, viewer),
  enqueued_at: formatTime(entry.createdAt),
});
