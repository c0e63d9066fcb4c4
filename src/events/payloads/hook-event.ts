/** What a hook can be told of, by the name that it is asked for with. */
export const HOOK_EVENTS = [
  "create",
  "delete",
  "fork",
  "push",
  "issues",
  "issue_assign",
  "issue_label",
  "issue_milestone",
  "issue_comment",
  "pull_request",
  "pull_request_assign",
  "pull_request_label",
  "pull_request_milestone",
  "pull_request_comment",
  "pull_request_review_approved",
  "pull_request_review_rejected",
  "pull_request_review_comment",
  "pull_request_review_request",
  "pull_request_sync",
  "wiki",
  "repository",
  "release",
  "package",
  "status",
  "workflow_run",
  "workflow_job",
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** What an event is called among its like, where that is not its own name. */
const FAMILIES: Partial<Record<HookEvent, string>> = {
  issue_assign: "issues",
  issue_label: "issues",
  issue_milestone: "issues",
  pull_request_assign: "pull_request",
  pull_request_label: "pull_request",
  pull_request_milestone: "pull_request",
  pull_request_comment: "issue_comment",
  pull_request_review_approved: "pull_request_approved",
  pull_request_review_rejected: "pull_request_rejected",
  pull_request_review_comment: "pull_request_comment",
  pull_request_review_request: "pull_request",
  pull_request_sync: "pull_request",
};

/** The name that receivers choose by: one for all events whose payloads have one form. */
export const familyOf = (event: HookEvent): string => FAMILIES[event] ?? event;
