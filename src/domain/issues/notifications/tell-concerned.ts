import { isNotNull, sql } from "drizzle-orm";

import type { Reach } from "../../../auth/access/people.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { mails, notifications, users } from "../../../db/schema/index.ts";
import {
  type Audience,
  type AudiencePart,
  concerned,
  isTold,
  REASON,
  selectConcerned,
} from "./recipients.ts";
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
  const rows = sql`(${selectConcerned(audience, part)}) ${concerned}`;
  const isToldNow = isTold(audience, reach);
  const queueMails = insertSelect(
    db,
    mails,
    {
      userId: concerned.userId,
      address: "",
      sealedContent: "",
      issueId,
      eventId,
      reason: sql`case ${concerned.reason}
        when ${REASON.mention} then 'mention'
        when ${REASON.reviewRequest} then 'review_request'
        when ${REASON.assign} then 'assign'
        else 'subscribed'
      end`,
      dueAt: now,
      createdAt: now,
    },
    sql`
      from ${rows}
      join ${users} on ${users.id} = ${concerned.userId}
      where ${isToldNow}
        and (${users.emailNotifications} in ('enabled', 'andyourown')
          or ${users.emailNotifications} = 'onmention'
            and ${concerned.reason} > ${REASON.subscribed})
        and (${users.id} <> ${doerId} or ${users.emailNotifications} = 'andyourown')
        and not exists (
          select 1
          from ${notifications}
          where ${notifications.userId} = ${concerned.userId}
            and ${notifications.issueId} = ${issueId}
            and ${notifications.eventId} >= ${eventId}
        )`,
  ).onConflictDoNothing();
  const upsert = insertSelect(
    db,
    notifications,
    {
      userId: concerned.userId,
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
      from ${rows}
      where ${concerned.userId} <> ${doerId} and ${isToldNow}`,
  ).onConflictDoUpdate({
    target: [notifications.userId, notifications.issueId],
    targetWhere: isNotNull(notifications.issueId),
    set: {
      ...TOLD_AGAIN,
      entryId: sql`coalesce(excluded.entry_id, ${notifications.entryId})`,
    },
    setWhere: isLaterEvent,
  });
  const counted = db
    .select({
      lastId: sql<number | null>`max(${concerned.userId})`.as("last_id"),
      size: sql<number>`count(*)`.as("size"),
    })
    .from(rows);
  return isMailed ? [counted, queueMails, upsert] : [counted, upsert];
});
