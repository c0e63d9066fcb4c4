import type { WebhookEvent } from "../../../events/webhooks/payloads/webhook-event.ts";

/** The commit whose workflow files an event starts, and which their runs check out. */
type TriggerSource =
  /** A branch or tag, by its full name, at this commit. */
  | { readonly kind: "ref"; readonly ref: string; readonly oid: string }
  /** The release's tag. */
  | { readonly kind: "tag" }
  /** The head of the pull request, or the tip of its base. */
  | { readonly kind: "head" | "base" }
  | { readonly kind: "default branch" };

/** An event in the words of workflow files. */
export interface Trigger {
  /** The name under `on`. */
  readonly event: string;
  /** What `types` filters. */
  readonly action?: string;
  readonly source: TriggerSource;
}

/** Actions that workflow files call otherwise. */
const ACTIONS: Readonly<Record<string, string>> = {
  synchronized: "synchronize",
  label_updated: "labeled",
  label_cleared: "unlabeled",
};

const DEFAULT_BRANCH = { kind: "default branch" } as const;

/** What workflow files call a webhook event; nothing for most. */
export function triggersOf(webhookEvent: WebhookEvent): readonly Trigger[] {
  const { event } = webhookEvent;
  switch (event) {
    case "push":
    case "create": {
      const { ref, after } = webhookEvent;
      return after === null ? [] : [{ event, source: { kind: "ref", ref, oid: after } }];
    }
    case "delete":
    case "fork":
      return [{ event, source: DEFAULT_BRANCH }];
    case "wiki":
      return [{ event: "gollum", source: DEFAULT_BRANCH }];
    case "release":
      return webhookEvent.action === "deleted"
        ? [{ event, action: "deleted", source: DEFAULT_BRANCH }]
        : [
            {
              event,
              action: webhookEvent.action === "updated" ? "edited" : "published",
              source: { kind: "tag" },
            },
          ];
    case "package": {
      const action = webhookEvent.action === "created" ? "published" : "deleted";
      return [{ event: "registry_package", action, source: DEFAULT_BRANCH }];
    }
    case "issues":
    case "issue_assign":
    case "issue_label":
    case "issue_milestone":
      return [{ event: "issues", action: actionOf(webhookEvent), source: DEFAULT_BRANCH }];
    case "issue_comment":
    case "pull_request_comment":
      return [{ event: "issue_comment", action: webhookEvent.action, source: DEFAULT_BRANCH }];
    case "pull_request":
    case "pull_request_assign":
    case "pull_request_label":
    case "pull_request_milestone":
    case "pull_request_review_request":
    case "pull_request_sync": {
      if (webhookEvent.action === "deleted") return [];
      const action = actionOf(webhookEvent);
      return [
        { event: "pull_request", action, source: { kind: "head" } },
        { event: "pull_request_target", action, source: { kind: "base" } },
      ];
    }
    case "pull_request_review_approved":
    case "pull_request_review_rejected":
    case "pull_request_review_comment":
      return [{ event: "pull_request_review", action: "submitted", source: { kind: "head" } }];
    case "workflow_run":
      return [{ event, action: webhookEvent.action, source: DEFAULT_BRANCH }];
    case "workflow_job":
    case "repository":
    case "status":
      return [];
    default:
      return webhookEvent satisfies never;
  }
}

const actionOf = ({ action }: { readonly action: string }): string => ACTIONS[action] ?? action;
