import type { ReviewEvent } from "./hook-event.ts";
import type { PullChange } from "./pull-webhook-event.ts";
import type { PushPayload } from "./push-payload.ts";
import type { CreatePayload, DeletePayload } from "./ref-payload.ts";
import type { CommentPayload, IssuePayload } from "../../../shapes/webhooks/issue-payloads.ts";
import type { PackagePayload } from "../../../shapes/webhooks/package-payload.ts";
import type { PullPayload } from "../../../shapes/webhooks/pull-payload.ts";
import type { ReleasePayload } from "../../../shapes/webhooks/release-payload.ts";
import type { WikiPayload } from "../../../shapes/webhooks/wiki-payload.ts";
import type { RepositoryPayload } from "../../../shapes/webhooks/repository-payload.ts";
import type {
  WorkflowJobPayload,
  WorkflowRunPayload,
} from "../../../shapes/webhooks/workflow-payloads.ts";
import type { ForkPayload } from "./repository-payload.ts";
import type { StatusPayload } from "./status-payload.ts";

/** The payload of each webhook event. */
export type Payload =
  | { readonly event: "repository"; readonly body: RepositoryPayload }
  | { readonly event: "fork"; readonly body: ForkPayload }
  | { readonly event: "create"; readonly body: CreatePayload }
  | { readonly event: "delete"; readonly body: DeletePayload }
  | { readonly event: "push"; readonly body: PushPayload }
  | { readonly event: "release"; readonly body: ReleasePayload }
  | { readonly event: "wiki"; readonly body: WikiPayload }
  | { readonly event: "workflow_run"; readonly body: WorkflowRunPayload }
  | { readonly event: "workflow_job"; readonly body: WorkflowJobPayload }
  | { readonly event: "package"; readonly body: PackagePayload }
  | { readonly event: "status"; readonly body: StatusPayload }
  | {
      readonly event: "issues" | "issue_assign" | "issue_label" | "issue_milestone";
      readonly body: IssuePayload;
    }
  | {
      readonly event: "issue_comment" | "pull_request_comment";
      readonly body: CommentPayload;
    }
  | {
      readonly event: PullChange["event"] | ReviewEvent;
      readonly body: PullPayload;
    };
