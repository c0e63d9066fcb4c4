import { z } from "@hono/zod-openapi";

import type { BranchProtection as BranchProtectionRow } from "../../db/schema/index.ts";
import { RuleFields, toRuleFields } from "./branch-protection.ts";
import type { RuleNames } from "./rule-names.ts";

export const Ruleset = RuleFields.extend({
  rule_name: z.string().openapi({ example: "main" }),
  repository_patterns: z.string().openapi({
    description: "Patterns of names of repositories, separated by semicolons; empty for all",
    example: "api-*;web",
  }),
}).openapi("Ruleset");

/** Formats a ruleset of an organization. */
export const toRuleset = (
  rule: BranchProtectionRow,
  names: RuleNames,
): z.infer<typeof Ruleset> => ({
  ...toRuleFields(rule, names),
  rule_name: rule.name,
  repository_patterns: rule.repositoryPatterns,
});
