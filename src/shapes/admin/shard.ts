import { z } from "@hono/zod-openapi";

import { formatTime } from "../../lib/time.ts";
import { Int64, NEVER, Time } from "../json.ts";

export const Shard = z
  .object({
    id: Int64.openapi({ description: "The number in the name of its binding", example: 1 }),
    is_open: z.boolean().openapi({ description: "Whether new repositories may come here" }),
    is_ready: z.boolean().openapi({
      description:
        "Whether it can have repositories: the service has its binding, and it has copies of all accounts and teams",
    }),
    repo_count: Int64.openapi({ description: "Repositories whose data it has" }),
    size: Int64.openapi({ description: "Bytes of its database when it was last measured" }),
    measured_at: Time.openapi({ description: "When its size was last measured; 1970 if never" }),
    created_at: Time,
  })
  .openapi("Shard");

/** A shard as administrators see it. */
export interface ShardEntry {
  readonly id: number;
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly repositoryCount: number;
  readonly sizeBytes: number;
  /** In milliseconds. */
  readonly measuredAt: number | null;
  readonly createdAt: number;
}

/** Formats a shard. */
export const toShard = (entry: ShardEntry): z.infer<typeof Shard> => ({
  id: entry.id,
  is_open: entry.isOpen,
  is_ready: entry.isReady,
  repo_count: entry.repositoryCount,
  size: entry.sizeBytes,
  measured_at: entry.measuredAt === null ? NEVER : formatTime(entry.measuredAt),
  created_at: formatTime(entry.createdAt),
});
