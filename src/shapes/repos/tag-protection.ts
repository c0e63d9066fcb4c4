import { z } from "@hono/zod-openapi";

import type { TagProtection as TagProtectionRow } from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import { namesOf, type RuleNames } from "./rule-names.ts";

export const TagProtection = z
  .object({
    id: Int64,
    name_pattern: z.string().openapi({ example: "v*" }),
    whitelist_usernames: z.array(z.string()),
    whitelist_teams: z.array(z.string()),
    created_at: Time,
    updated_at: Time,
  })
  .openapi("TagProtection");

/** Formats a rule for tags. */
export const toTagProtection = (
  rule: TagProtectionRow,
  { users, teams }: RuleNames,
): z.infer<typeof TagProtection> => ({
  id: rule.id,
  name_pattern: rule.namePattern,
  whitelist_usernames: namesOf(users, rule.userIds),
  whitelist_teams: namesOf(teams, rule.teamIds),
  created_at: formatTime(rule.createdAt),
  updated_at: formatTime(rule.updatedAt),
});
