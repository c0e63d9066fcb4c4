import { eq, isNotNull, sql } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import { reaches } from "../../../auth/access/people.ts";
import { allOf } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { notifications, releases, repositories, users, watches } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { REQUIREMENT_OF } from "./notification-filter.ts";
import { isLaterEvent, RENEWAL } from "./renewal.ts";

const watching = derivedTable("watching", "userId");

/** Watchers whom one step notifies. */
const NOTIFIED_AT_ONCE = 500;

/**
 * Notifies the watchers of a repository of a published release.
 *
 * A notification has the id of its last event, so that the same event changes nothing when it is
 * handled again. A release that is a draft again, or gone, notifies nobody.
 *
 * SECURITY: users who may not read the releases, or who block the publisher, are not notified.
 */
export const notifyRelease: Consequence = {
  name: "release-notifications",
  kinds: ["release.published"],
  async handle({ db, now }, { id: eventId, actorId: doerId, event }, budget, state) {
    if (event.type !== "release.published") return undefined;
    budget.consume(2);
    const [repo] = await db.select().from(repositories).where(eq(repositories.id, event.repoId));
    if (!repo) return undefined;
    const afterId = typeof state === "number" ? state : 0;
    const part = sql`(
      select ${watches.userId}
      from ${watches}
      where ${watches.repoId} = ${repo.id} and ${watches.userId} > ${afterId}
      order by ${watches.userId}
      limit ${NOTIFIED_AT_ONCE}
    ) ${watching}`;
    const userId = sql`${watching.userId}`;
    const isRecipient = allOf(
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
      db,
      notifications,
      {
        userId,
        repoId: repo.id,
        subject: "release",
        releaseId: sql`${releases.id}`,
        status: "unread",
        eventId,
        createdAt: now,
        updatedAt: now,
      },
      sql`
        from ${part}
        join ${releases} on ${releases.id} = ${event.releaseId}
        where not ${releases.isDraft} and ${isRecipient}`,
    ).onConflictDoUpdate({
      target: [notifications.userId, notifications.releaseId],
      targetWhere: isNotNull(notifications.releaseId),
      set: RENEWAL,
      setWhere: isLaterEvent,
    });
    const [[last]] = await db.batch([
      db
        .select({
          lastId: sql<number | null>`max(${userId})`.as("last_id"),
          size: sql<number>`count(*)`.as("size"),
        })
        .from(part),
      upsert,
    ]);
    return last?.size === NOTIFIED_AT_ONCE ? (last.lastId ?? undefined) : undefined;
  },
};
