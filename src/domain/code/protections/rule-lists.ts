/** The lists of users and teams that a rule has, by the names of its settings. */
export const LISTS = ["push", "forcePush", "merge", "approval"] as const;
export type RuleList = (typeof LISTS)[number];
