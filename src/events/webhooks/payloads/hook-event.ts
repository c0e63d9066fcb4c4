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

/** The delivered events of reviews, by the reviews' results. */
const REVIEW_EVENTS = [
  "pull_request_review_approved",
  "pull_request_review_rejected",
  "pull_request_review_comment",
] as const;
export type ReviewEvent = (typeof REVIEW_EVENTS)[number];

/** The events of deliveries: the subscribed events, with the events of reviews by their results. */
export const DELIVERED_EVENTS = [
  ...HOOK_EVENTS.filter((event) => event !== "pull_request_review"),
  ...REVIEW_EVENTS,
].toSorted();
export type DeliveredEvent = Exclude<HookEvent, "pull_request_review"> | ReviewEvent;

const isReviewEvent = (event: DeliveredEvent): event is ReviewEvent =>
  (REVIEW_EVENTS as readonly string[]).includes(event);

/** The event that a hook subscribes to in order to receive an event. */
export const subscriptionOf = (event: DeliveredEvent): HookEvent =>
  isReviewEvent(event) ? "pull_request_review" : event;

/** The family of each event whose family has a different name. */
const FAMILIES: Partial<Record<DeliveredEvent, string>> = {
  issue_assign: "issues",
  issue_label: "issues",
  issue_milestone: "issues",
  pull_request_assign: "pull_request",
  pull_request_label: "pull_request",
  pull_request_milestone: "pull_request",
  pull_request_comment: "issue_comment",
  pull_request_review_request: "pull_request",
  pull_request_sync: "pull_request",
  pull_request_review_approved: "pull_request_approved",
  pull_request_review_rejected: "pull_request_rejected",
  pull_request_review_comment: "pull_request_comment",
};

/** The name that receivers dispatch on: one for all events whose payloads share a form. */
export const familyOf = (event: DeliveredEvent): string => FAMILIES[event] ?? event;
