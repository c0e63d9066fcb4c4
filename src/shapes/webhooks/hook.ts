import { z } from "@hono/zod-openapi";

import type { Hook as HookRow } from "../../db/schema/index.ts";
import { defined } from "../../lib/defined.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";

export const Hook = z
  .object({
    id: Int64,
    type: z.string(),
    active: z.boolean(),
    config: z.record(z.string(), z.string()).openapi({
      description: "`url`, `content_type` and the settings of chat messages, without the secret",
    }),
    events: z.array(z.string()),
    branch_filter: z.string(),
    authorization_header: z
      .string()
      .openapi({ description: "Always empty, because it is write-only" }),
    last_status: z
      .enum(["none", "succeeded", "failed"])
      .openapi({ description: "Result of the last delivery" }),
    failing_since: TimeOrNull.openapi({
      description: "Since when every attempt has failed; null if the last attempt succeeded",
    }),
    paused_at: TimeOrNull.openapi({
      description:
        "When the webhook was paused after failing for days. It receives nothing until it is activated again",
    }),
    updated_at: Time,
    created_at: Time,
  })
  .openapi("Hook");

/** Formats a webhook for callers who may edit it, without its secrets. */
export function toHook(hook: HookRow): z.infer<typeof Hook> {
  const { chat } = hook;
  return {
    id: hook.id,
    type: hook.type,
    active: hook.isActive,
    config: {
      url: hook.url,
      content_type: hook.contentType,
      ...(defined({
        channel: chat.channel,
        username: chat.username,
        icon_url: chat.iconUrl,
        color: chat.color,
      }) as Record<string, string>),
    },
    events: hook.events,
    branch_filter: hook.branchFilter,
    // SECURITY: write-only, like the secret.
    authorization_header: "",
    last_status: hook.lastStatus,
    failing_since: formatTimeOrNull(hook.failingSince),
    paused_at: formatTimeOrNull(hook.pausedAt),
    updated_at: formatTime(hook.updatedAt),
    created_at: formatTime(hook.createdAt),
  };
}
