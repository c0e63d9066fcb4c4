import { sql } from "drizzle-orm";

import type { Reach } from "../../../auth/access/people.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { mails, notifications, users } from "../../../db/schema/index.ts";
import { type Audience, type AudiencePart, isTold, REASON, selectConcerned } from "./recipients.ts";
import { isLaterEvent, TOLD_AGAIN } from "./told-again.ts";

/** An event that users are told of. */
interface Told {
  readonly audience: Audience;
  readonly part: AudiencePart;
  readonly isPull: boolean;
  readonly eventId: number;
  /** The comment or review that it is about. */
  readonly entryId: number | null;
  readonly isMailed: boolean;
  /** Time in Unix milliseconds. */
  readonly now: number;
}

/**
 * The statements that tell a part of an audience: its size and the last user, then the
 * notifications; and before those the mails, for those who are not told yet.
 *
 * The shape is who may read the issue.
 */
export const tellConcerned = prepareAll((db, told: Params<Told>, { reach }: { reach: Reach }) => {
  const { audience, part, isPull, eventId, entryId, isMailed, now } = told;
  const { repo, issueId, doerId } = audience;
  const concerned = selectConcerned(audience, part);
  const isToldNow = isTold(audience, reach);
  const queueMails = insertSelect(
    db,
    mails,
    {
      userId: sql`concerned.user_id`,
      address: "",
      sealedContent: "",
      issueId,
      eventId,
      reason: sql`case concerned.reason
        when ${REASON.mention} then 'mention'
        when ${REASON.reviewRequest} then 'review_request'
        when ${REASON.assign} then 'assign'
        else 'subscribed'
      end`,
      dueAt: now,
      createdAt: now,
    },
    sql`
      from (${concerned}) concerned
      join ${users} on ${users.id} = concerned.user_id
      where ${isToldNow}
        and (${users.emailNotifications} in ('enabled', 'andyourown')
          or ${users.emailNotifications} = 'onmention' and concerned.reason > ${REASON.subscribed})
        and (${users.id} <> ${doerId} or ${users.emailNotifications} = 'andyourown')
        and not exists (
          select 1
          from ${notifications}
          where ${notifications.userId} = concerned.user_id
            and ${notifications.issueId} = ${issueId}
            and ${notifications.eventId} >= ${eventId}
        )`,
  ).onConflictDoNothing();
  const upsert = insertSelect(
    db,
    notifications,
    {
      userId: sql`concerned.user_id`,
      repoId: repo.id,
      subject: isPull ? "pull" : "issue",
      issueId,
      status: "unread",
      entryId,
      eventId,
      createdAt: now,
      updatedAt: now,
    },
    sql`
      from (${concerned}) concerned
      where concerned.user_id <> ${doerId} and ${isToldNow}`,
  ).onConflictDoUpdate({
    target: [notifications.userId, notifications.issueId],
    targetWhere: sql`issue_id is not null`,
    set: {
      ...TOLD_AGAIN,
      entryId: sql`coalesce(excluded.entry_id, ${notifications.entryId})`,
    },
    setWhere: isLaterEvent,
  });
  const counted = db
    .select({
      lastId: sql<number | null>`max(concerned.user_id)`.as("last_id"),
      size: sql<number>`count(*)`.as("size"),
    })
    .from(sql`(${concerned}) concerned`);
  return isMailed ? [counted, queueMails, upsert] : [counted, upsert];
});
