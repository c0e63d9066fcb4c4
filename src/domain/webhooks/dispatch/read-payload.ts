import { and, eq, inArray } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { ANONYMOUS } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { columnsOf } from "../../../db/db.ts";
import {
  commitStatuses,
  OWNER_PERMISSION,
  repositories,
  users,
  type CommitStatus,
  type User,
  type Visibility,
} from "../../../db/schema/index.ts";
import type { WebhookEvent } from "../../../events/webhooks/payloads/webhook-event.ts";
import type { PayloadContext } from "../../../events/webhooks/payloads/payload-context.ts";
import type { Payload } from "../../../events/webhooks/payloads/payload.ts";
import { toPushPayload } from "../../../events/webhooks/payloads/push-payload.ts";
import { openReceiver } from "../../../events/webhooks/payloads/open-receiver.ts";
import { toCreatePayload, toDeletePayload } from "../../../events/webhooks/payloads/ref-payload.ts";
import {
  toForkPayload,
  toRepositoryPayload,
} from "../../../events/webhooks/payloads/repository-payload.ts";
import { toStatusPayload } from "../../../events/webhooks/payloads/status-payload.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { readCommits } from "../../commits/read-commits.ts";
import { type RepositorySnapshot, openSnapshot } from "../../git/open-snapshot.ts";
import { findNode, PUSHED_PARTS, readPushed } from "./read-pushed.ts";

/** What the payloads of one event are read from. */
export interface PayloadSource {
  readonly ctx: Ctx;
  /** Undefined for a repository that is gone. */
  readonly find: (repoId: number) => RepositoryContext | undefined;
  /** Who did it; undefined for nobody, and for an account that is gone. */
  readonly sender: User | undefined;
  readonly status: CommitStatus | undefined;
  /** Opens the code of a repository, once. */
  readonly open: (where: RepositoryContext) => Promise<RepositorySnapshot>;
}

/**
 * Opens what the announcements of one event speak of, as things are now.
 *
 * SECURITY: all is read as nobody in particular, since nobody knows who reads at the other end.
 *
 * Cost: one round to the database.
 *
 * @param actorId Who did it; 0 for nobody.
 */
export async function openPayloadSource(
  someCtx: Ctx,
  webhookEvents: readonly WebhookEvent[],
  actorId: number,
): Promise<PayloadSource> {
  const ctx: Ctx = { ...someCtx, actor: ANONYMOUS };
  const { db } = ctx;
  const told = webhookEvents.find((each) => each.event === "status");
  const repoIds = webhookEvents.flatMap((each) =>
    each.event === "fork" ? [each.repoId, each.forkId] : [each.repoId],
  );
  const [found, [sender], [status]] = await db.batch([
    db
      .select({ repo: columnsOf(repositories, "r"), owner: columnsOf(users, "o") })
      .from(repositories)
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(inArray(repositories.id, [...new Set(repoIds)])),
    db.select().from(users).where(eq(users.id, actorId)),
    db
      .select()
      .from(commitStatuses)
      .where(
        and(
          eq(commitStatuses.repoId, told?.repoId ?? 0),
          eq(commitStatuses.commitOid, told?.commitOid ?? ""),
          eq(commitStatuses.number, told?.number ?? 0),
        ),
      ),
  ]);
  let snapshot: Promise<RepositorySnapshot> | undefined;
  return {
    ctx,
    sender,
    status,
    find: (repoId) => {
      const row = found.find(({ repo }) => repo.id === repoId);
      // A hook is set up by whoever administers.
      return row && { row: row.repo, owner: row.owner, permission: OWNER_PERMISSION };
    },
    open: (where) => (snapshot ??= openSnapshot(ctx, where)),
  };
}

/**
 * What hooks are told of an announcement.
 *
 * Cost: for a push and a status one round to the database; the code is opened for the first of them.
 *
 * @returns Undefined where what it speaks of is gone, or is not for those who are told.
 */
export async function readPayload(
  source: PayloadSource,
  webhookEvent: WebhookEvent,
): Promise<Payload | undefined> {
  if (webhookEvent.event === "repository" && webhookEvent.action === "deleted") {
    return { event: "repository", body: webhookEvent.body };
  }
  const { ctx, sender } = source;
  const where = source.find(webhookEvent.repoId);
  if (!where || (needsCode(webhookEvent) && !isAllowed(where, { unit: "code", mode: "read" })))
    return undefined;
  const context: PayloadContext = { where, sender, viewer: openReceiver(ctx) };
  switch (webhookEvent.event) {
    case "repository":
      return { event: "repository", body: toRepositoryPayload(context, webhookEvent.action) };
    case "fork": {
      const fork = source.find(webhookEvent.forkId);
      if (!fork || !isAsOpen(fork, where)) return undefined;
      return { event: "fork", body: toForkPayload(context, fork) };
    }
    case "create":
      return { event: "create", body: toCreatePayload(context, webhookEvent) };
    case "delete":
      return { event: "delete", body: toDeletePayload(context, webhookEvent) };
    case "push": {
      const { ref, before, after } = webhookEvent;
      const pushed = await readPushed(ctx, await source.open(where), { ref, before, after });
      return { event: "push", body: toPushPayload(context, pushed) };
    }
    case "status": {
      const snapshot = await source.open(where);
      const node = findNode(snapshot.repository, webhookEvent.commitOid);
      if (!source.status || node === NO_NODE) return undefined;
      const [commit] = await readCommits(ctx, snapshot, [node], PUSHED_PARTS);
      return commit && { event: "status", body: toStatusPayload(context, source.status, commit) };
    }
    default:
      return webhookEvent satisfies never;
  }
}

/** Whether it tells of the code: names of branches do, too. */
const needsCode = ({ event }: WebhookEvent): boolean => event !== "repository" && event !== "fork";

const VISIBILITIES: readonly Visibility[] = ["public", "limited", "private"];

/** SECURITY: who hears of a repository need not hear of a fork that others may see. A private one is its owner's. */
const isAsOpen = (fork: RepositoryContext, source: RepositoryContext): boolean =>
  fork.row.visibility !== "private" &&
  VISIBILITIES.indexOf(fork.row.visibility) <= VISIBILITIES.indexOf(source.row.visibility);
