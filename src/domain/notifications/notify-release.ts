import { and, eq, sql } from "drizzle-orm";

import { isBlockedBy } from "../../auth/access/blocks.ts";
import { reaches } from "../../auth/access/people.ts";
import type { Ctx } from "../../context.ts";
import { batchBoth } from "../../db/batch-both.ts";
import { allOf } from "../../db/db.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import {
  notifications,
  releases,
  repositories,
  users,
  watches,
  type Repository,
} from "../../db/schema/index.ts";
import type { Consequence } from "../../events/consequence.ts";
import { REQUIREMENT_OF } from "./notification-filter.ts";
import { isLaterEvent, TOLD_AGAIN } from "./told-again.ts";

/** Watchers whom one step tells. */
const TOLD_AT_ONCE = 500;

/**
 * Tells the watchers of a repository of a published release, by notifications.
 *
 * A notification knows the last event that it tells of: one that was told already changes nothing when it is told again.
 * A release that is a draft again, or gone, is told to nobody.
 *
 * SECURITY: nobody is told who may not read the releases, or who blocks the publisher.
 */
export const notifyRelease: Consequence = {
  name: "release-notifications",
  kinds: ["release.published"],
  async handle(ctx, { id: eventId, actorId: doerId, event }, budget, state) {
    if (event.type !== "release.published") return undefined;
    budget.consume(2);
    const { db, directory } = ctx;
    const { repoId, releaseId } = event;
    const [[[repo]], [[release]]] = await batchBoth(
      [directory, [repositoryOfId(directory, { id: repoId })]],
      [db, [releaseOfId(db, { id: releaseId, repoId })]],
    );
    if (!repo || !release || release.isDraft) return undefined;
    const afterId = typeof state === "number" ? state : 0;
    return tell(ctx, { repo, releaseId, eventId, doerId }, afterId);
  },
};

const repositoryOfId = prepare((db, p: Params<{ id: number }>) =>
  db.select().from(repositories).where(eq(repositories.id, p.id)),
);

const releaseOfId = prepare((db, p: Params<{ id: number; repoId: number }>) =>
  db
    .select({ isDraft: releases.isDraft })
    .from(releases)
    .where(and(eq(releases.id, p.id), eq(releases.repoId, p.repoId))),
);

/** A release that was published, and by whom. */
interface Published {
  /** The repository's row of the first database. */
  readonly repo: Repository;
  readonly releaseId: number;
  readonly eventId: number;
  readonly doerId: number;
}

/**
 * Tells some of the watchers, in one batch of the first database.
 *
 * @param afterId The last user whom the step before told; 0 in the first one.
 * @returns The last user of this step; undefined if no step follows.
 */
async function tell(
  { directory, now }: Ctx,
  { repo, releaseId, eventId, doerId }: Published,
  afterId: number,
): Promise<number | undefined> {
  const part = sql`(
    select ${watches.userId} as user_id
    from ${watches}
    where ${watches.repoId} = ${repo.id} and ${watches.userId} > ${afterId}
    order by ${watches.userId}
    limit ${TOLD_AT_ONCE}
  ) watching`;
  const userId = sql`watching.user_id`;
  const isTold = allOf(
    sql`${userId} <> ${doerId}`,
    sql`exists (
      select 1
      from ${users}
      where ${users.id} = ${userId} and ${users.isActive} and not ${users.isLoginProhibited}
    )`,
    sql`not ${isBlockedBy(sql`${doerId}`, userId)}`,
    reaches(userId, repo, REQUIREMENT_OF.release),
  );
  const upsert = insertSelect(
    directory,
    notifications,
    {
      userId,
      repoId: repo.id,
      subject: "release",
      releaseId,
      status: "unread",
      eventId,
      createdAt: now,
      updatedAt: now,
    },
    sql`from ${part} where ${isTold}`,
  ).onConflictDoUpdate({
    target: [notifications.userId, notifications.releaseId],
    targetWhere: sql`release_id is not null`,
    set: TOLD_AGAIN,
    setWhere: isLaterEvent,
  });
  const [[last]] = await directory.batch([
    directory
      .select({
        lastId: sql<number | null>`max(${userId})`.as("last_id"),
        size: sql<number>`count(*)`.as("size"),
      })
      .from(part),
    upsert,
  ]);
  return last?.size === TOLD_AT_ONCE ? (last.lastId ?? undefined) : undefined;
}
