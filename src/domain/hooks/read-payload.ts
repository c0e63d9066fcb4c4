import { and, eq, inArray } from "drizzle-orm";

import { ANONYMOUS } from "../../auth/actor.ts";
import { noReplyDomain } from "../../config.ts";
import type { Ctx } from "../../context.ts";
import { columnsOf } from "../../db/db.ts";
import {
  ACCESS,
  commitStatuses,
  repositories,
  users,
  type Visibility,
} from "../../db/schema/index.ts";
import type { Announcement } from "../../events/payloads/announcement.ts";
import type { Occasion } from "../../events/payloads/occasion.ts";
import type { Payload } from "../../events/payloads/payload.ts";
import { toPushPayload } from "../../events/payloads/push-payload.ts";
import { toReceiver } from "../../events/payloads/receiver.ts";
import { toCreatePayload, toDeletePayload } from "../../events/payloads/ref-payload.ts";
import { toForkPayload, toRepositoryPayload } from "../../events/payloads/repository-payload.ts";
import { toStatusPayload } from "../../events/payloads/status-payload.ts";
import { NO_NODE } from "../../git/walk/commit-graph.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { readCommits } from "../commits/read-commits.ts";
import { openCode } from "../git/open-code.ts";
import { findNode, PUSHED_PARTS, readPushed } from "./read-pushed.ts";

/**
 * What hooks are told of an announcement, as things are now.
 *
 * SECURITY: all is read as nobody in particular, since nobody knows who reads at the other end.
 *
 * Cost: one round to the database; for a push and a status the code is opened, and one round more.
 *
 * @param actorId Who did it; 0 for nobody.
 * @returns Undefined where what it speaks of is gone, or is not for those who are told.
 */
export async function readPayload(
  someCtx: Ctx,
  announcement: Announcement,
  actorId: number,
): Promise<Payload | undefined> {
  const ctx: Ctx = { ...someCtx, actor: ANONYMOUS };
  const { where, fork, sender, status } = await readRows(ctx, announcement, actorId);
  if (!where || (needsCode(announcement) && !where.repo.hasCode)) return undefined;
  const occasion: Occasion = { where, sender, viewer: openReceiver(ctx) };
  switch (announcement.event) {
    case "repository":
      return {
        event: "repository",
        body: toRepositoryPayload(occasion, announcement.action),
      };
    case "fork":
      if (!fork || !isAsOpen(fork, where)) return undefined;
      return { event: "fork", body: toForkPayload(occasion, fork) };
    case "create":
      return { event: "create", body: toCreatePayload(occasion, announcement) };
    case "delete":
      return { event: "delete", body: toDeletePayload(occasion, announcement) };
    case "push": {
      const { ref, before, after } = announcement;
      const pushed = await readPushed(ctx, await openCode(ctx, where), { ref, before, after });
      return { event: "push", body: toPushPayload(occasion, pushed) };
    }
    case "status": {
      const code = await openCode(ctx, where);
      const node = findNode(code.repository, announcement.commitOid);
      if (!status || node === NO_NODE) return undefined;
      const [commit] = await readCommits(ctx, code, [node], PUSHED_PARTS);
      return commit && { event: "status", body: toStatusPayload(occasion, status, commit) };
    }
    default:
      return announcement satisfies never;
  }
}

/** Who is told: nobody in particular, by the addresses of this service. */
export const openReceiver = ({ rootUrl, config }: Ctx) =>
  toReceiver({ rootUrl, noReplyDomain: noReplyDomain(config, rootUrl) });

const needsCode = ({ event }: Announcement): boolean => event === "push" || event === "status";

async function readRows({ db }: Ctx, announcement: Announcement, actorId: number) {
  const { repoId } = announcement;
  const forkId = announcement.event === "fork" ? announcement.forkId : 0;
  const [found, [sender], [status]] = await db.batch([
    db
      .select({ repo: columnsOf(repositories, "r"), owner: columnsOf(users, "o") })
      .from(repositories)
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(inArray(repositories.id, [repoId, forkId])),
    db.select().from(users).where(eq(users.id, actorId)),
    db
      .select()
      .from(commitStatuses)
      .where(
        and(
          eq(commitStatuses.repoId, announcement.event === "status" ? repoId : 0),
          eq(commitStatuses.commitOid, "commitOid" in announcement ? announcement.commitOid : ""),
          eq(commitStatuses.number, "number" in announcement ? announcement.number : 0),
        ),
      ),
  ]);
  const find = (id: number): RepositoryEntry | undefined => {
    const row = found.find(({ repo }) => repo.id === id);
    // A hook is set up by whoever administers.
    return row && { ...row, access: ACCESS.owner };
  };
  return { where: find(repoId), fork: find(forkId), sender, status };
}

const VISIBILITIES: readonly Visibility[] = ["public", "limited", "private"];

/** SECURITY: who hears of a repository need not hear of a fork that fewer may see. */
const isAsOpen = (fork: RepositoryEntry, source: RepositoryEntry): boolean =>
  VISIBILITIES.indexOf(fork.repo.visibility) <= VISIBILITIES.indexOf(source.repo.visibility);
