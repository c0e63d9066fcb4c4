import type { Allowed, ProtectionSettings } from "../../../db/schema/index.ts";
import { invalidField } from "../../../lib/failure.ts";
import { LIST_FIELDS, type ListFields, LISTS, type RuleList } from "./rule-lists.ts";
import type { RulePeople } from "./rule-people.ts";
import { arePathPatterns, isPattern } from "./rule-patterns.ts";

const NOBODY: Allowed = { isRestricted: false, userIds: [], teamIds: [], deployKeys: false };

/** The settings of a rule without any option: nobody pushes, and merges need nothing. */
export const NO_SETTINGS: ProtectionSettings = {
  isPushEnabled: false,
  push: NOBODY,
  isForcePushEnabled: false,
  forcePush: NOBODY,
  merge: NOBODY,
  approval: NOBODY,
  requiredApprovals: 0,
  isStatusCheckEnabled: false,
  statusContexts: [],
  blockOnRejectedReviews: false,
  blockOnOfficialReviewRequests: false,
  blockOnOutdatedBranch: false,
  dismissStaleApprovals: false,
  ignoreStaleApprovals: false,
  requireSignedCommits: false,
  protectedFilePatterns: "",
  unprotectedFilePatterns: "",
  blockAdminMergeOverride: false,
  isMergeQueueEnabled: false,
  mergeQueueStyle: "",
  mergeQueueBatchSize: 5,
  mergeQueueWaitMinutes: 60,
};

/** A permission as a client sends it: users and teams by name. */
interface AllowedOptions {
  isRestricted?: boolean | undefined;
  users?: readonly string[] | undefined;
  teams?: readonly string[] | undefined;
  deployKeys?: boolean | undefined;
}

/** The options of a rule that a client sends. */
export type ProtectionOptions = {
  [K in Exclude<keyof ProtectionSettings, RuleList>]?: ProtectionSettings[K] | undefined;
} & Record<RuleList, AllowedOptions>;

/** The names of users and teams in options. */
export function namesIn(options: ProtectionOptions): { users: string[]; teams: string[] } {
  const of = (kind: "users" | "teams") => LISTS.flatMap((list) => options[list][kind] ?? []);
  return { users: of("users"), teams: of("teams") };
}

/** The ids of users and teams in settings. */
export function idsIn(settings: ProtectionSettings): { users: number[]; teams: number[] } {
  const of = (kind: "userIds" | "teamIds") => LISTS.flatMap((list) => settings[list][kind]);
  return { users: of("userIds"), teams: of("teamIds") };
}

/** Names on a list, and contexts of checks, at most. */
export const RULE_NAMES_MAX = 100;
/** Characters of a list of patterns, at most. */
export const PATTERNS_CHARS_MAX = 4000;
/**
 * Pull requests of a merge queue that are tested together, and minutes that checks may take: a day.
 */
export const QUEUE_BATCH_MAX = 20;
export const QUEUE_WAIT_MINUTES_MAX = 1440;

/**
 * @throws Failure `invalid` for patterns that are not well-formed, and for lists and numbers beyond
 *   their bounds.
 */
export function checkOptions(options: ProtectionOptions): void {
  const { statusContexts = [], protectedFilePatterns, unprotectedFilePatterns } = options;
  checkCount("status_check_contexts", statusContexts);
  for (const [list, fields] of Object.entries(LIST_FIELDS) as [RuleList, ListFields][]) {
    checkCount(fields.users, options[list].users);
    checkCount(fields.teams, options[list].teams);
  }
  checkNumber("merge_queue_batch_size", options.mergeQueueBatchSize, QUEUE_BATCH_MAX);
  checkNumber("merge_queue_wait_minutes", options.mergeQueueWaitMinutes, QUEUE_WAIT_MINUTES_MAX);
  if (!statusContexts.every(isPattern)) throw invalidField("status_check_contexts", PATTERN_RULE);
  if (!arePathPatterns(protectedFilePatterns ?? "")) {
    throw invalidField("protected_file_patterns", PATTERN_RULE);
  }
  if (!arePathPatterns(unprotectedFilePatterns ?? "")) {
    throw invalidField("unprotected_file_patterns", PATTERN_RULE);
  }
}

function checkCount(field: string, names: readonly string[] = []): void {
  if (names.length > RULE_NAMES_MAX) {
    throw invalidField(field, `must have at most ${RULE_NAMES_MAX} entries`);
  }
}

function checkNumber(field: string, number: number | undefined, max: number): void {
  if (number === undefined) return;
  if (!Number.isSafeInteger(number) || number < 1 || number > max) {
    throw invalidField(field, `must be a number from 1 to ${max}`);
  }
}

/** The rule for patterns, in messages. */
export const PATTERN_RULE =
  "must have at most 255 characters in each pattern, and its brackets and braces closed";

/**
 * Settings with options on top: what is not sent stays.
 *
 * A list is kept while its switch is off, as in Gitea. Where push is off, its lists are off. Of the
 * users on a list of those who push or merge, strangers are dropped.
 *
 * @throws Failure `invalid` for a user or team that does not exist.
 */
export function applyOptions(
  before: ProtectionSettings,
  options: ProtectionOptions,
  people: RulePeople,
): ProtectionSettings {
  const { push, forcePush, merge, approval, ...rest } = options;
  const allow = (list: RuleList, sent: AllowedOptions, isEnabled: boolean): Allowed => {
    const known = before[list];
    const isRestricted = isEnabled && (sent.isRestricted ?? known.isRestricted);
    const canWrite = list !== "approval";
    return {
      isRestricted,
      userIds: sent.users ? people.userIdsOf(sent.users, canWrite) : known.userIds,
      teamIds: sent.teams ? people.teamIdsOf(sent.teams) : known.teamIds,
      deployKeys: isRestricted && (sent.deployKeys ?? known.deployKeys),
    };
  };
  const sent = Object.entries(rest).filter(([, value]) => value !== undefined);
  const after: ProtectionSettings = { ...before, ...Object.fromEntries(sent) };
  // As in Gitea, it is switched on only together with push, and stays on without it.
  const isForcePushEnabled =
    after.isForcePushEnabled && (after.isPushEnabled || before.isForcePushEnabled);
  return {
    ...after,
    isForcePushEnabled,
    push: allow("push", push, after.isPushEnabled),
    forcePush: allow("forcePush", forcePush, isForcePushEnabled),
    merge: allow("merge", merge, true),
    approval: allow("approval", approval, true),
    requiredApprovals: Math.max(0, after.requiredApprovals),
  };
}
