import { z } from "@hono/zod-openapi";

import type { PackageCleanupRule as PackageCleanupRuleRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";

export const PackageCleanupRule = z
  .object({
    id: Int64,
    type: z.string().openapi({ description: "The format", example: "npm" }),
    enabled: z.boolean(),
    keep_count: Int64,
    keep_pattern: z.string(),
    remove_days: Int64,
    remove_pattern: z.string(),
    match_full_name: z.boolean(),
    next_run_at: Time.openapi({
      description: "When the schedule applies it next, at the earliest",
    }),
    created_at: Time,
    updated_at: Time,
  })
  .openapi("PackageCleanupRule");

export const toPackageCleanupRule = (
  rule: PackageCleanupRuleRow,
): z.infer<typeof PackageCleanupRule> => ({
  id: rule.id,
  type: rule.type,
  enabled: rule.isEnabled,
  keep_count: rule.keepCount,
  keep_pattern: rule.keepPattern,
  remove_days: rule.removeDays,
  remove_pattern: rule.removePattern,
  match_full_name: rule.matchesFullName,
  next_run_at: formatTime(rule.nextRunAt),
  created_at: formatTime(rule.createdAt),
  updated_at: formatTime(rule.updatedAt),
});
