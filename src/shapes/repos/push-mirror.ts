import { z } from "@hono/zod-openapi";

import type { PushMirror as PushMirrorRow, Repository } from "../../db/schema/index.ts";
import { formatGoDuration } from "../../lib/go-duration.ts";
import { formatTime } from "../../lib/time.ts";
import { Time } from "../json.ts";

/** SECURITY: it has neither the user name nor the password of the remote. */
export const PushMirror = z
  .object({
    repo_name: z.string(),
    remote_name: z.string().openapi({ description: "Names it among those of the repository" }),
    remote_address: z.string().openapi({ description: "Without credentials" }),
    created: Time,
    last_update: Time.openapi({ description: "When the last synchronization succeeded" }),
    last_error: z.string().openapi({ description: "Why the last one failed; empty if it did not" }),
    interval: z.string().openapi({ description: "As Go writes durations", example: "8h0m0s" }),
    sync_on_commit: z.boolean(),
    state: z.enum(["ok", "failing", "paused"]).openapi({
      description: "A paused mirror is synchronized when somebody asks for it",
    }),
    next_attempt_at: Time.nullable(),
  })
  .openapi("PushMirror");

export const toPushMirror = (
  mirror: PushMirrorRow,
  { name }: Pick<Repository, "name">,
): z.infer<typeof PushMirror> => ({
  repo_name: name,
  remote_name: mirror.remoteName,
  remote_address: mirror.address,
  created: formatTime(mirror.createdAt),
  last_update: formatTime(mirror.syncedAt ?? 0),
  last_error: mirror.lastError,
  interval: formatGoDuration(mirror.intervalSeconds),
  sync_on_commit: mirror.syncsOnCommit,
  state: mirror.state,
  next_attempt_at: mirror.dueAt === null ? null : formatTime(mirror.dueAt),
});
