import type { AccountEvent } from "./kinds/account-event.ts";
import type { CodeEvent } from "./kinds/code-event.ts";
import type { IssueEvent } from "./kinds/issue-event.ts";
import type { LabelEvent } from "./kinds/label-event.ts";
import type { MilestoneEvent } from "./kinds/milestone-event.ts";
import type { OauthEvent } from "./kinds/oauth-event.ts";
import type { OrganizationEvent } from "./kinds/organization-event.ts";
import type { PackageEvent } from "./kinds/package-event.ts";
import type { PullEvent } from "./kinds/pull-event.ts";
import type { ReleaseEvent } from "./kinds/release-event.ts";
import type { RepositoryEvent } from "./kinds/repository-event.ts";
import type { SocialEvent } from "./kinds/social-event.ts";
import type { TimeEvent } from "./kinds/time-event.ts";
import type { WikiEvent } from "./kinds/wiki-event.ts";
import type { WorkflowEvent } from "./kinds/workflow-event.ts";
import type { WebhookChangeEvent } from "./kinds/webhook-change-event.ts";

/**
 * Every event that the service records. A new kind is one variant in its file under `kinds/` and
 * one payload under `src/shapes/events/payloads/`; the compiler finds the rest.
 */
export type Event =
  | AccountEvent
  | CodeEvent
  | IssueEvent
  | LabelEvent
  | MilestoneEvent
  | OauthEvent
  | OrganizationEvent
  | PackageEvent
  | PullEvent
  | ReleaseEvent
  | RepositoryEvent
  | SocialEvent
  | TimeEvent
  | WebhookChangeEvent
  | WikiEvent
  | WorkflowEvent;
