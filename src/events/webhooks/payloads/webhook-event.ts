import type { WorkState } from "../../../db/schema/index.ts";
import type { Oid } from "../../../git/oid.ts";
import { formatTime } from "../../../lib/time.ts";
import type { Event } from "../../event.ts";
import type { WikiPageChange } from "../../kinds/wiki-event.ts";
import type { ReleasePayload } from "../../../shapes/webhooks/release-payload.ts";
import type { RepositoryPayload } from "../../../shapes/webhooks/repository-payload.ts";
import type { WorkAction } from "../../../shapes/webhooks/workflow-payloads.ts";

import {
  isIssueEvent,
  type IssueWebhookEvent,
  listIssueWebhookEvents,
} from "./issue-webhook-event.ts";
import type { PackageSubject } from "./package-payload.ts";
import { isPullEvent, listPullWebhookEvents, type PullWebhookEvent } from "./pull-webhook-event.ts";

/** An updated ref; `before` is null for a new ref, `after` for a deleted one. */
export interface RefChange {
  /** Full name. */
  readonly ref: string;
  readonly before: Oid | null;
  readonly after: Oid | null;
  /** For a new branch: the number of commits that no other branch had. */
  readonly commitCount?: number;
}

/** An event that hooks receive. It refers to rows, which are read when the payload is built. */
export type WebhookEvent =
  | {
      readonly event: "repository";
      readonly repoId: number;
      readonly action: "created" | "archived" | "expiring";
    }
  | {
      readonly event: "repository";
      readonly repoId: number;
      readonly action:
        | "mirror_failed"
        | "mirror_recovered"
        | "migration_finished"
        | "migration_failed";
      readonly more: Pick<RepositoryPayload, "mirror" | "migration">;
    }
  /** The payload is recorded with the event, since a deleted repository cannot be read. */
  | {
      readonly event: "repository";
      readonly repoId: number;
      readonly action: "deleted";
      readonly body: RepositoryPayload;
    }
  /** `repoId` is the repository that was forked. */
  | { readonly event: "fork"; readonly repoId: number; readonly forkId: number }
  | ({ readonly event: "create" | "push" | "delete"; readonly repoId: number } & RefChange)
  | {
      readonly event: "status";
      readonly repoId: number;
      readonly commitOid: Oid;
      readonly number: number;
    }
  | {
      readonly event: "release";
      readonly repoId: number;
      readonly action: "published" | "updated";
      readonly releaseId: number;
    }
  /** The payload is recorded with the event, since a deleted release cannot be read. */
  | {
      readonly event: "release";
      readonly repoId: number;
      readonly action: "deleted";
      readonly body: ReleasePayload;
    }
  | {
      readonly event: "wiki";
      readonly repoId: number;
      readonly action: WikiPageChange["action"];
      readonly page: string;
      readonly comment: string;
    }
  /** `repoId` is 0 for a package that is linked to no repository. */
  | {
      readonly event: "package";
      readonly repoId: number;
      readonly action: "created" | "deleted";
      readonly subject: PackageSubject;
    }
  | WorkWebhookEvent
  | IssueWebhookEvent
  | PullWebhookEvent;

/** A run or a job has another state. */
export interface WorkWebhookEvent {
  readonly event: "workflow_run" | "workflow_job";
  readonly repoId: number;
  readonly action: WorkAction;
  readonly runId: number;
  /** Undefined for a run. */
  readonly jobId?: number;
  /** The state that it had then. */
  readonly state: WorkState;
  readonly attempt: number;
}

const WORK_ACTIONS: Readonly<Record<WorkState, WorkAction>> = {
  blocked: "waiting",
  waiting: "queued",
  running: "in_progress",
  success: "completed",
  failure: "completed",
  cancelled: "completed",
  skipped: "completed",
};

/**
 * Lists the webhook events of an event, in order; most events have none. The event's id and the
 * index in this list identify a webhook event permanently.
 */
export function listWebhookEvents(event: Event): WebhookEvent[] {
  switch (event.type) {
    case "repository.created":
      return [{ event: "repository", repoId: event.repoId, action: "created" }];
    case "repository.archived":
      return [{ event: "repository", repoId: event.repoId, action: "archived" }];
    case "repository.expiring":
      return [{ event: "repository", repoId: event.repoId, action: "expiring" }];
    case "repository.deleted":
      return [
        { event: "repository", repoId: event.repoId, action: "deleted", body: event.lastPayload },
      ];
    case "repository.forked":
      return [
        { event: "fork", repoId: event.parentId, forkId: event.repoId },
        { event: "repository", repoId: event.repoId, action: "created" },
      ];
    case "mirror.failed":
    case "mirror.recovered": {
      const { repoId, remoteName: remote_name = null } = event;
      const mirror =
        event.type === "mirror.failed"
          ? {
              remote_name,
              reason: event.reason,
              next_attempt_at: event.nextAt === null ? null : formatTime(event.nextAt),
              paused: event.isPaused,
            }
          : { remote_name, reason: "", next_attempt_at: null, paused: false };
      const action = event.type === "mirror.failed" ? "mirror_failed" : "mirror_recovered";
      return [{ event: "repository", repoId, action, more: { mirror } }];
    }
    case "migration.finished":
    case "migration.failed": {
      const isFailed = event.type === "migration.failed";
      const migration = { reason: isFailed ? event.reason : "" };
      const action = isFailed ? "migration_failed" : "migration_finished";
      return [{ event: "repository", repoId: event.repoId, action, more: { migration } }];
    }
    case "repository.pushed":
      return event.updates.flatMap((update) => listRefEvents(event.repoId, update));
    case "commit_status.created": {
      const { repoId, commitOid, number } = event;
      return [{ event: "status", repoId, commitOid, number }];
    }
    case "release.published": {
      const { repoId, releaseId } = event;
      return [{ event: "release", repoId, action: "published", releaseId }];
    }
    case "release.updated": {
      const { repoId, releaseId, part } = event;
      // As in Gitea, which has no webhooks for files.
      return part === "assets" ? [] : [{ event: "release", repoId, action: "updated", releaseId }];
    }
    case "release.deleted":
      return [
        { event: "release", repoId: event.repoId, action: "deleted", body: event.lastPayload },
      ];
    case "wiki.changed": {
      const { repoId, comment } = event;
      return event.pages.map((change) => ({ event: "wiki", repoId, comment, ...change }));
    }
    case "package.created":
    case "package.deleted": {
      const { type, repoId, packageId: _packageId, ...subject } = event;
      const action = type === "package.created" ? "created" : "deleted";
      return [{ event: "package", repoId: repoId ?? 0, action, subject }];
    }
    case "workflow_run.changed":
    case "workflow_job.changed": {
      const { repoId, runId, state, attempt } = event;
      const action = WORK_ACTIONS[state];
      const change = { repoId, action, runId, state, attempt };
      return event.type === "workflow_run.changed"
        ? [{ event: "workflow_run", ...change }]
        : [{ event: "workflow_job", ...change, jobId: event.jobId }];
    }
    default:
      if (isIssueEvent(event)) return listIssueWebhookEvents(event);
      return isPullEvent(event) ? listPullWebhookEvents(event) : [];
  }
}

/** Kinds of events that may have webhook events. */
const KINDS_WITH_WEBHOOK_EVENTS: ReadonlySet<Event["type"]> = new Set([
  "repository.created",
  "repository.archived",
  "repository.expiring",
  "repository.deleted",
  "repository.forked",
  "repository.pushed",
  "mirror.failed",
  "mirror.recovered",
  "migration.finished",
  "migration.failed",
  "commit_status.created",
  "release.published",
  "release.updated",
  "release.deleted",
  "wiki.changed",
  "package.created",
  "package.deleted",
  "workflow_run.changed",
  "workflow_job.changed",
  "issue.opened",
  "issue.closed",
  "issue.reopened",
  "issue.edited",
  "issue.deleted",
  "issue.assigned",
  "issue.unassigned",
  "issue.labeled",
  "issue.labels_cleared",
  "issue.milestoned",
  "issue.demilestoned",
  "comment.created",
  "comment.edited",
  "comment.deleted",
  "pull.synchronized",
  "pull.merged",
  "pull.retargeted",
  "pull.enqueued",
  "pull.dequeued",
  "pull.review_requested",
  "pull.review_request_removed",
  "review.submitted",
] as const);

export const hasWebhookEvents = (type: Event["type"]): boolean =>
  KINDS_WITH_WEBHOOK_EVENTS.has(type);

/**
 * A deleted branch makes no push event; refs other than branches and tags make no events at all.
 */
function listRefEvents(
  repoId: number,
  { ref, before, after, commitCount }: RefChange,
): WebhookEvent[] {
  const kind = kindOfRef(ref);
  if (kind === undefined || (before === null && after === null)) return [];
  const toEvent = (event: "create" | "push" | "delete"): WebhookEvent => ({
    event,
    repoId,
    ref,
    before,
    after,
    ...(before === null && commitCount !== undefined && { commitCount }),
  });
  if (after === null)
    return kind === "tag" ? [toEvent("push"), toEvent("delete")] : [toEvent("delete")];
  if (before !== null) return [toEvent("push")];
  return kind === "tag"
    ? [toEvent("push"), toEvent("create")]
    : [toEvent("create"), toEvent("push")];
}

const REF_PREFIXES = { branch: "refs/heads/", tag: "refs/tags/" } as const;

/** Undefined for refs that are neither branches nor tags. */
export function kindOfRef(ref: string): "branch" | "tag" | undefined {
  if (ref.startsWith(REF_PREFIXES.branch)) return "branch";
  return ref.startsWith(REF_PREFIXES.tag) ? "tag" : undefined;
}

/** The short name of a branch or tag. */
export const shortRef = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, "");
