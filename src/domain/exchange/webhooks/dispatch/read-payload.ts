import { and, eq, inArray, sql } from "drizzle-orm";

import { isUnitOn } from "../../../../auth/access/unit-switches.ts";
import { ANONYMOUS } from "../../../../auth/actor.ts";
import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { columnsOf } from "../../../../db/db.ts";
import {
  commitStatuses,
  OWNER_PERMISSION,
  releases,
  repositories,
  users,
  type CommitStatus,
  type Unit,
  type User,
  type Visibility,
} from "../../../../db/schema/index.ts";
import type {
  CommentChange,
  IssueChange,
} from "../../../../events/webhooks/payloads/issue-change.ts";
import type { WebhookEvent } from "../../../../events/webhooks/payloads/webhook-event.ts";
import type { PayloadContext } from "../../../../events/webhooks/payloads/payload-context.ts";
import type { Payload } from "../../../../events/webhooks/payloads/payload.ts";
import { toPackagePayload } from "../../../../events/webhooks/payloads/package-payload.ts";
import { toReleasePayload } from "../../../../events/webhooks/payloads/release-payload.ts";
import { toPushPayload } from "../../../../events/webhooks/payloads/push-payload.ts";
import { openReceiver } from "../../../../events/webhooks/payloads/open-receiver.ts";
import {
  toCreatePayload,
  toDeletePayload,
} from "../../../../events/webhooks/payloads/ref-payload.ts";
import {
  toForkPayload,
  toRepositoryPayload,
} from "../../../../events/webhooks/payloads/repository-payload.ts";
import {
  toWorkflowJobPayload,
  toWorkflowRunPayload,
  type WorkSubject,
} from "../../../../events/webhooks/payloads/workflow-payload.ts";
import { toWikiPayload } from "../../../../events/webhooks/payloads/wiki-payload.ts";
import { toStatusPayload } from "../../../../events/webhooks/payloads/status-payload.ts";
import { NO_NODE } from "../../../../git/walk/commit-graph.ts";
import type { RepositoryContext } from "../../../../shapes/repos/repository.ts";
import { readCommits } from "../../../code/commits/read-commits.ts";
import { type RepositorySnapshot, openSnapshot } from "../../../code/git/open-snapshot.ts";
import {
  type ReleaseQueryRow,
  selectReleases,
  toReleaseContext,
} from "../../../packages/releases/find-release.ts";
import {
  type IssueSubject,
  readIssueSubject,
  toIssueOrCommentPayload,
} from "./read-issue-payload.ts";
import { type PullSubject, readPullSubject, toPullOrReviewPayload } from "./read-pull-payload.ts";
import { readWorkSubject } from "./read-work-subject.ts";
import { PUSHED_PARTS, readPushedCommits } from "./read-pushed-commits.ts";
import { findNode } from "../../../code/git/find-node.ts";

/** The data that the payloads of one event are built from. */
export interface PayloadSource {
  readonly ctx: Ctx;
  /** Undefined for a repository that was deleted. */
  readonly find: (repoId: number) => RepositoryContext | undefined;
  /** The actor of the event; undefined if there is none, or if the account was deleted. */
  readonly sender: User | undefined;
  readonly status: CommitStatus | undefined;
  /** The release of an event about one that exists. */
  readonly release: ReleaseQueryRow | undefined;
  /** Owners and publishers of packages. */
  readonly findAccount: (id: number) => User | undefined;
  /** The issue of an event about one that exists. */
  readonly issue: IssueSubject | undefined;
  /** The pull request of an event about one that exists. */
  readonly pull: PullSubject | undefined;
  /** The run of an event about one, or about a job of it. */
  readonly work: WorkSubject | undefined;
  /** Opens the snapshot of a repository, once. */
  readonly open: (repo: RepositoryContext) => Promise<RepositorySnapshot>;
}

/**
 * Opens the data for the webhook events of one event, in its current state.
 *
 * SECURITY: everything is read as an anonymous caller, since the readers at the receiver are
 * unknown.
 *
 * Cost: one round trip.
 *
 * @param actorId The actor of the event; 0 for none.
 */
export async function openPayloadSource(
  callerCtx: Ctx,
  webhookEvents: readonly WebhookEvent[],
  actorId: number,
): Promise<PayloadSource> {
  const ctx: Ctx = { ...callerCtx, actor: ANONYMOUS };
  const { db } = ctx;
  const statusEvent = webhookEvents.find((each) => each.event === "status");
  const releaseEvent = webhookEvents.find((each) => "releaseId" in each);
  const accountIds = webhookEvents.flatMap((each) =>
    each.event === "package" ? [each.subject.ownerId, each.subject.creatorId] : [],
  );
  const repoIds = webhookEvents.flatMap((each) =>
    each.event === "fork" ? [each.repoId, each.forkId] : [each.repoId],
  );
  const change = webhookEvents.find((each) => "issueId" in each);
  const readingIssue = change && isOfIssue(change) ? readIssueSubject(db, change) : undefined;
  const readingPull = change && !isOfIssue(change) ? readPullSubject(ctx, change) : undefined;
  const readingRest = batch(db, {
    repositories: db
      .select({ repo: columnsOf(repositories, "r"), owner: columnsOf(users, "o") })
      .from(repositories)
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(inArray(repositories.id, [...new Set(repoIds)])),
    senders: db.select().from(users).where(eq(users.id, actorId)),
    statuses: db
      .select()
      .from(commitStatuses)
      .where(
        and(
          eq(commitStatuses.repoId, statusEvent?.repoId ?? 0),
          eq(commitStatuses.commitOid, statusEvent?.commitOid ?? ""),
          eq(commitStatuses.number, statusEvent?.number ?? 0),
        ),
      ),
    releases: selectReleases(db).where(
      and(
        eq(releases.id, releaseEvent?.releaseId ?? 0),
        eq(releases.repoId, releaseEvent?.repoId ?? 0),
      ),
    ),
    accounts: db
      .select()
      .from(users)
      .where(sql`${users.id} in (select value from json_each(${JSON.stringify(accountIds)}))`),
  });
  const workEvent = webhookEvents.find((each) => "runId" in each);
  const [found, issue, pull, work] = await Promise.all([
    readingRest,
    readingIssue,
    readingPull,
    workEvent && readWorkSubject(db, workEvent),
  ]);
  let snapshot: Promise<RepositorySnapshot> | undefined;
  return {
    ctx,
    sender: found.senders[0],
    status: found.statuses[0],
    release: found.releases[0],
    issue,
    pull,
    work,
    find: (repoId) => {
      const row = found.repositories.find(({ repo }) => repo.id === repoId);
      // Hooks are set up by administrators of the repository.
      return row && { row: row.repo, owner: row.owner, permission: OWNER_PERMISSION };
    },
    findAccount: (id) => found.accounts.find((each) => each.id === id),
    open: (repo) => (snapshot ??= openSnapshot(ctx, repo)),
  };
}

/**
 * Builds the payload of a webhook event.
 *
 * Cost: one round trip for a push or a status; the snapshot is opened for the first of them.
 *
 * @returns Undefined if its subject no longer exists, or must not be shown to the hook's receivers.
 */
export async function readPayload(
  source: PayloadSource,
  webhookEvent: WebhookEvent,
): Promise<Payload | undefined> {
  if (webhookEvent.event === "repository" && webhookEvent.action === "deleted") {
    return { event: "repository", body: webhookEvent.body };
  }
  if (webhookEvent.event === "package") return readPackagePayload(source, webhookEvent);
  const { ctx, sender } = source;
  const repo = source.find(webhookEvent.repoId);
  const unit = unitOf(webhookEvent);
  if (!repo || (unit && !isUnitOn(repo.row, unit))) return undefined;
  const context: PayloadContext = { repo, sender, viewer: openReceiver(ctx) };
  switch (webhookEvent.event) {
    case "repository":
      return {
        event: "repository",
        body: toRepositoryPayload(
          context,
          webhookEvent.action,
          "more" in webhookEvent ? webhookEvent.more : {},
        ),
      };
    case "fork": {
      const fork = source.find(webhookEvent.forkId);
      if (!fork || !isVisibleToReceivers(fork, repo)) return undefined;
      return { event: "fork", body: toForkPayload(context, fork) };
    }
    case "create":
      return { event: "create", body: toCreatePayload(context, webhookEvent) };
    case "delete":
      return { event: "delete", body: toDeletePayload(context, webhookEvent) };
    case "push": {
      const { event: _event, repoId: _repoId, ...change } = webhookEvent;
      const pushed = await readPushedCommits(ctx, await source.open(repo), change);
      return { event: "push", body: toPushPayload(context, pushed) };
    }
    case "status": {
      const snapshot = await source.open(repo);
      const node = await findNode(snapshot.repository, webhookEvent.commitOid);
      if (!source.status || node === NO_NODE) return undefined;
      const [commit] = await readCommits(ctx, snapshot, [node], PUSHED_PARTS);
      return commit && { event: "status", body: toStatusPayload(context, source.status, commit) };
    }
    case "release": {
      if (webhookEvent.action === "deleted") return { event: "release", body: webhookEvent.body };
      const { release } = source;
      // A draft is shown to writers only, also one that was published before.
      if (!release || release.release.isDraft) return undefined;
      const shown = toReleaseContext(repo, release);
      return { event: "release", body: toReleasePayload(context, webhookEvent.action, shown) };
    }
    case "wiki":
      return { event: "wiki", body: toWikiPayload(context, webhookEvent) };
    case "workflow_run":
      return (
        source.work && {
          event: "workflow_run",
          body: toWorkflowRunPayload(context, webhookEvent, source.work),
        }
      );
    case "workflow_job":
      return (
        source.work?.job && {
          event: "workflow_job",
          body: toWorkflowJobPayload(context, webhookEvent, source.work, source.work.job),
        }
      );
    case "issues":
    case "issue_assign":
    case "issue_label":
    case "issue_milestone":
    case "issue_comment":
      if (webhookEvent.action === "deleted") return webhookEvent;
      return source.issue && toIssueOrCommentPayload(context, webhookEvent, source.issue);
    case "pull_request":
    case "pull_request_assign":
    case "pull_request_label":
    case "pull_request_milestone":
    case "pull_request_review_request":
    case "pull_request_sync":
    case "pull_request_comment":
    case "pull_request_review_approved":
    case "pull_request_review_rejected":
    case "pull_request_review_comment":
      if (webhookEvent.action === "deleted") return webhookEvent;
      return source.pull && toPullOrReviewPayload(ctx, context, webhookEvent, source.pull);
    default:
      return webhookEvent satisfies never;
  }
}

/** The payload of a package: of none whose repository has the unit disabled. */
function readPackagePayload(
  { ctx, find, findAccount, sender }: PayloadSource,
  { repoId, action, subject }: Extract<WebhookEvent, { event: "package" }>,
): Payload | undefined {
  const owner = findAccount(subject.ownerId);
  const repo = find(repoId);
  if (!owner || (repo && !isUnitOn(repo.row, "packages"))) return undefined;
  const creator = findAccount(subject.creatorId);
  const context = { owner, creator, repo, sender, viewer: openReceiver(ctx) };
  return { event: "package", body: toPackagePayload(context, action, subject) };
}

/** Whether a change is one of an issue, and not of a pull request. */
const isOfIssue = <T extends { readonly event: WebhookEvent["event"] }>(
  change: T,
): change is Extract<T, IssueChange | CommentChange> => change.event.startsWith("issue");

/** The unit that the payload discloses content of; names of branches are code, too. */
function unitOf({ event }: WebhookEvent): Unit | undefined {
  if (event === "repository" || event === "fork") return undefined;
  if (event === "release") return "releases";
  if (event === "wiki") return "wiki";
  if (event.startsWith("workflow_")) return "actions";
  if (event.startsWith("pull_request")) return "pulls";
  return event.startsWith("issue") ? "issues" : "code";
}

const VISIBILITIES: readonly Visibility[] = ["public", "limited", "private"];

/**
 * SECURITY: receivers that may see a repository need not see a fork with narrower visibility. A
 * private fork is shown to its owner only.
 */
const isVisibleToReceivers = (fork: RepositoryContext, source: RepositoryContext): boolean =>
  fork.row.visibility !== "private" &&
  VISIBILITIES.indexOf(fork.row.visibility) <= VISIBILITIES.indexOf(source.row.visibility);
