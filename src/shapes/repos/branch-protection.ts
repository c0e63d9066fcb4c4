import { z } from "@hono/zod-openapi";

import {
  type BranchProtection as BranchProtectionRow,
  MERGE_STYLES,
} from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Int64, Time } from "../json.ts";
import { namesOf, type RuleNames } from "./rule-names.ts";

const Names = z.array(z.string());

/** The settings of a rule for branches, of a repository or of an organization. */
export const RuleFields = z.object({
  id: Int64,
  priority: Int64,
  enable_push: z.boolean(),
  enable_push_whitelist: z.boolean(),
  push_whitelist_usernames: Names,
  push_whitelist_teams: Names,
  push_whitelist_deploy_keys: z.boolean(),
  enable_force_push: z.boolean(),
  enable_force_push_allowlist: z.boolean(),
  force_push_allowlist_usernames: Names,
  force_push_allowlist_teams: Names,
  force_push_allowlist_deploy_keys: z.boolean(),
  enable_merge_whitelist: z.boolean(),
  merge_whitelist_usernames: Names,
  merge_whitelist_teams: Names,
  enable_status_check: z.boolean(),
  status_check_contexts: z.array(z.string()),
  required_approvals: Int64,
  enable_approvals_whitelist: z.boolean(),
  approvals_whitelist_username: Names,
  approvals_whitelist_teams: Names,
  block_on_rejected_reviews: z.boolean(),
  block_on_official_review_requests: z.boolean(),
  block_on_outdated_branch: z.boolean(),
  dismiss_stale_approvals: z.boolean(),
  ignore_stale_approvals: z.boolean(),
  require_signed_commits: z.boolean(),
  protected_file_patterns: z.string(),
  unprotected_file_patterns: z.string(),
  block_admin_merge_override: z.boolean(),
  enable_merge_queue: z.boolean(),
  merge_queue_style: z.enum(["", ...MERGE_STYLES]),
  merge_queue_batch_size: Int64,
  merge_queue_wait_minutes: Int64,
  created_at: Time,
  updated_at: Time,
});

export const BranchProtection = RuleFields.extend({
  rule_name: z.string().openapi({ example: "release/**" }),
  branch_name: z.string().openapi({
    deprecated: true,
    description: "The name of the rule where it is for one branch, else empty",
  }),
}).openapi("BranchProtection");

/** Formats the settings of a rule. */
export function toRuleFields(
  { settings, ...rule }: BranchProtectionRow,
  { users, teams }: RuleNames,
): z.infer<typeof RuleFields> {
  const { push, forcePush, merge, approval } = settings;
  return {
    id: rule.id,
    priority: rule.priority,
    enable_push: settings.isPushEnabled,
    enable_push_whitelist: push.isRestricted,
    push_whitelist_usernames: namesOf(users, push.userIds),
    push_whitelist_teams: namesOf(teams, push.teamIds),
    push_whitelist_deploy_keys: push.deployKeys,
    enable_force_push: settings.isForcePushEnabled,
    enable_force_push_allowlist: forcePush.isRestricted,
    force_push_allowlist_usernames: namesOf(users, forcePush.userIds),
    force_push_allowlist_teams: namesOf(teams, forcePush.teamIds),
    force_push_allowlist_deploy_keys: forcePush.deployKeys,
    enable_merge_whitelist: merge.isRestricted,
    merge_whitelist_usernames: namesOf(users, merge.userIds),
    merge_whitelist_teams: namesOf(teams, merge.teamIds),
    enable_status_check: settings.isStatusCheckEnabled,
    status_check_contexts: settings.statusContexts,
    required_approvals: settings.requiredApprovals,
    enable_approvals_whitelist: approval.isRestricted,
    approvals_whitelist_username: namesOf(users, approval.userIds),
    approvals_whitelist_teams: namesOf(teams, approval.teamIds),
    block_on_rejected_reviews: settings.blockOnRejectedReviews,
    block_on_official_review_requests: settings.blockOnOfficialReviewRequests,
    block_on_outdated_branch: settings.blockOnOutdatedBranch,
    dismiss_stale_approvals: settings.dismissStaleApprovals,
    ignore_stale_approvals: settings.ignoreStaleApprovals,
    require_signed_commits: settings.requireSignedCommits,
    protected_file_patterns: settings.protectedFilePatterns,
    unprotected_file_patterns: settings.unprotectedFilePatterns,
    block_admin_merge_override: settings.blockAdminMergeOverride,
    enable_merge_queue: settings.isMergeQueueEnabled,
    merge_queue_style: settings.mergeQueueStyle,
    merge_queue_batch_size: settings.mergeQueueBatchSize,
    merge_queue_wait_minutes: settings.mergeQueueWaitMinutes,
    created_at: formatTime(rule.createdAt),
    updated_at: formatTime(rule.updatedAt),
  };
}

/** Formats a rule of a repository. @param isExact Whether its name stands for one branch. */
export const toBranchProtection = (
  rule: BranchProtectionRow,
  isExact: boolean,
  names: RuleNames,
): z.infer<typeof BranchProtection> => ({
  ...toRuleFields(rule, names),
  rule_name: rule.name,
  branch_name: isExact ? rule.name : "",
});
