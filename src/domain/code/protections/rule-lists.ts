/** The lists of users and teams that a rule has, by the names of its settings. */
export const LISTS = ["push", "forcePush", "merge", "approval"] as const;
export type RuleList = (typeof LISTS)[number];

/** The API's fields of a list. */
export interface ListFields {
  readonly isRestricted: string;
  readonly users: string;
  readonly teams: string;
  /** Undefined where keys are never on it. */
  readonly deployKeys?: string;
}

export const LIST_FIELDS = {
  push: {
    isRestricted: "enable_push_whitelist",
    users: "push_whitelist_usernames",
    teams: "push_whitelist_teams",
    deployKeys: "push_whitelist_deploy_keys",
  },
  forcePush: {
    isRestricted: "enable_force_push_allowlist",
    users: "force_push_allowlist_usernames",
    teams: "force_push_allowlist_teams",
    deployKeys: "force_push_allowlist_deploy_keys",
  },
  merge: {
    isRestricted: "enable_merge_whitelist",
    users: "merge_whitelist_usernames",
    teams: "merge_whitelist_teams",
  },
  approval: {
    isRestricted: "enable_approvals_whitelist",
    users: "approvals_whitelist_username",
    teams: "approvals_whitelist_teams",
  },
} as const satisfies Readonly<Record<RuleList, ListFields>>;
