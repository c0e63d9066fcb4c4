import { z } from "@hono/zod-openapi";

import { MERGE_STYLES } from "../../db/schema/index.ts";
import type { RuleOptions } from "../../domain/code/protections/change-rules.ts";
import {
  PATTERNS_CHARS_MAX,
  QUEUE_BATCH_MAX,
  QUEUE_WAIT_MINUTES_MAX,
  RULE_NAMES_MAX,
} from "../../domain/code/protections/protection-options.ts";
import { optionalFlag, optionalText } from "../json-body.ts";

export const nameList = () => z.array(z.string().max(255)).max(RULE_NAMES_MAX).optional();
export const patternList = () => optionalText(PATTERNS_CHARS_MAX);

/** The fields of a rule for branches besides its name, all optional. */
export const RULE_FIELDS = {
  priority: z.int().optional().openapi({
    description:
      "The rule with the lowest priority applies. Without one, or with 0, the rule comes after all others, and an exact name before patterns",
  }),
  enable_push: optionalFlag(),
  enable_push_whitelist: optionalFlag(),
  push_whitelist_usernames: nameList(),
  push_whitelist_teams: nameList(),
  push_whitelist_deploy_keys: optionalFlag(),
  enable_force_push: optionalFlag(),
  enable_force_push_allowlist: optionalFlag(),
  force_push_allowlist_usernames: nameList(),
  force_push_allowlist_teams: nameList(),
  force_push_allowlist_deploy_keys: optionalFlag(),
  enable_merge_whitelist: optionalFlag(),
  merge_whitelist_usernames: nameList(),
  merge_whitelist_teams: nameList(),
  enable_status_check: optionalFlag(),
  status_check_contexts: z
    .array(z.string().min(1).max(255))
    .max(RULE_NAMES_MAX)
    .optional()
    .openapi({
      description: "Patterns; each must match a status of the head, and all matches succeed",
    }),
  required_approvals: z.int().optional(),
  enable_approvals_whitelist: optionalFlag(),
  approvals_whitelist_username: nameList(),
  approvals_whitelist_teams: nameList(),
  block_on_rejected_reviews: optionalFlag(),
  block_on_official_review_requests: optionalFlag(),
  block_on_outdated_branch: optionalFlag(),
  dismiss_stale_approvals: optionalFlag(),
  ignore_stale_approvals: optionalFlag(),
  require_signed_commits: optionalFlag(),
  protected_file_patterns: patternList().openapi({
    description:
      "Patterns of paths, separated by semicolons, where `*` matches neither a slash nor a dot",
  }),
  unprotected_file_patterns: patternList(),
  block_admin_merge_override: optionalFlag(),
  enable_merge_queue: optionalFlag().openapi({
    description: "Whether pull requests into the branch are merged by a merge queue",
  }),
  merge_queue_style: z
    .enum(["", ...MERGE_STYLES])
    .optional()
    .openapi({ description: "The style of all merges of the queue; empty for any" }),
  merge_queue_batch_size: z.int().min(1).max(QUEUE_BATCH_MAX).optional().openapi({
    description: "The most pull requests of the queue that are tested together, by default 5",
  }),
  merge_queue_wait_minutes: z.int().min(1).max(QUEUE_WAIT_MINUTES_MAX).optional().openapi({
    description:
      "How long the checks of the queue may take before they count as failed, by default 60",
  }),
};

const Fields = z.object(RULE_FIELDS);

/** The options of a rule from the fields of a body. */
export function toRuleOptions(sent: z.infer<typeof Fields>): RuleOptions {
  return {
    priority: sent.priority,
    settings: {
      isPushEnabled: sent.enable_push,
      push: {
        isRestricted: sent.enable_push_whitelist,
        users: sent.push_whitelist_usernames,
        teams: sent.push_whitelist_teams,
        deployKeys: sent.push_whitelist_deploy_keys,
      },
      isForcePushEnabled: sent.enable_force_push,
      forcePush: {
        isRestricted: sent.enable_force_push_allowlist,
        users: sent.force_push_allowlist_usernames,
        teams: sent.force_push_allowlist_teams,
        deployKeys: sent.force_push_allowlist_deploy_keys,
      },
      merge: {
        isRestricted: sent.enable_merge_whitelist,
        users: sent.merge_whitelist_usernames,
        teams: sent.merge_whitelist_teams,
      },
      approval: {
        isRestricted: sent.enable_approvals_whitelist,
        users: sent.approvals_whitelist_username,
        teams: sent.approvals_whitelist_teams,
      },
      requiredApprovals: sent.required_approvals,
      isStatusCheckEnabled: sent.enable_status_check,
      statusContexts: sent.status_check_contexts,
      blockOnRejectedReviews: sent.block_on_rejected_reviews,
      blockOnOfficialReviewRequests: sent.block_on_official_review_requests,
      blockOnOutdatedBranch: sent.block_on_outdated_branch,
      dismissStaleApprovals: sent.dismiss_stale_approvals,
      ignoreStaleApprovals: sent.ignore_stale_approvals,
      requireSignedCommits: sent.require_signed_commits,
      protectedFilePatterns: sent.protected_file_patterns,
      unprotectedFilePatterns: sent.unprotected_file_patterns,
      blockAdminMergeOverride: sent.block_admin_merge_override,
      isMergeQueueEnabled: sent.enable_merge_queue,
      mergeQueueStyle: sent.merge_queue_style,
      mergeQueueBatchSize: sent.merge_queue_batch_size,
      mergeQueueWaitMinutes: sent.merge_queue_wait_minutes,
    },
  };
}
