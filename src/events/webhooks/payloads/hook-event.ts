/** The events that a hook can subscribe to. */
export const HOOK_EVENTS = [
  "create",
  "delete",
  "fork",
  "issue_assign",
  "issue_comment",
  "issue_label",
  "issue_milestone",
  "issues",
  "package",
  "pull_request",
  "pull_request_assign",
  "pull_request_comment",
  "pull_request_label",
  "pull_request_milestone",
  "pull_request_review",
  "pull_request_review_request",
  "pull_request_sync",
  "push",
  "release",
  "repository",
  "status",
  "wiki",
  "workflow_job",
  "workflow_run",
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** The family of each event whose family has a different name. */
const FAMILIES: Partial<Record<HookEvent, string>> = {
  issue_assign: "issues",
  issue_label: "issues",
  issue_milestone: "issues",
  pull_request_assign: "pull_request",
  pull_request_label: "pull_request",
  pull_request_milestone: "pull_request",
  pull_request_comment: "issue_comment",
  pull_request_review_request: "pull_request",
  pull_request_sync: "pull_request",
};

/** The name that receivers dispatch on: one for all events whose payloads share a form. */
export const familyOf = (event: HookEvent): string => FAMILIES[event] ?? event;
