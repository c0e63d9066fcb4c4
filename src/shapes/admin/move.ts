import { z } from "@hono/zod-openapi";

import { MOVE_STATES, type RepositoryMove } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";

export const Move = z
  .object({
    id: Int64,
    repository: z.string().openapi({
      description: "The full name that the repository had at the start",
      example: "octo/hello",
    }),
    source: Int64.openapi({ description: "The number of the shard; 0 for the first database" }),
    target: Int64.openapi({ description: "The number of the shard" }),
    state: z.enum(MOVE_STATES).openapi({
      description:
        "`done`, `failed` and `cancelled` have ended. Until `moved` the repository is in the source",
    }),
    reason: z.string().openapi({ description: "Why it failed or waits; empty otherwise" }),
    freeze_count: Int64.openapi({ description: "How often writes had to wait" }),
    row_counts: z.record(z.string(), Int64).openapi({
      description: "The rows of each table when it moved; empty before",
    }),
    created_at: Time,
    moved_at: Time.openapi({ description: "1970 before it moved" }),
    finished_at: Time.openapi({ description: "1970 before it ended" }),
  })
  .openapi("RepositoryMove");

/** Formats a move. */
export const toMove = (move: RepositoryMove): z.infer<typeof Move> => ({
  id: move.id,
  repository: move.repoName,
  source: move.source,
  target: move.target,
  state: move.state,
  reason: move.reason,
  freeze_count: move.freezeCount,
  row_counts: move.rowCounts,
  created_at: formatTime(move.createdAt),
  moved_at: move.movedAt === null ? NEVER : formatTime(move.movedAt),
  finished_at: move.finishedAt === null ? NEVER : formatTime(move.finishedAt),
});
