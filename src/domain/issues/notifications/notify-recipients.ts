import { isNotNull, sql } from "drizzle-orm";

import type { Reach } from "../../../auth/access/people.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { mails, notifications, users } from "../../../db/schema/index.ts";
import {
  type Audience,
  type AudiencePart,
  candidates,
  isRecipient,
  REASON,
  selectCandidates,
} from "./recipients.ts";
import { isLaterEvent, RENEWAL } from "./renewal.ts";

/** An event of which users are notified. */
interface NotifiedEvent {
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
 * The statements that notify a part of an audience: its size and the last user, then the
 * notifications. The mails come before them, for users without a notification of the event.
 *
 * The shape is who may read the issue.
 */
export const notifyRecipients = prepareAll(
  (db, event: Params<NotifiedEvent>, { reach }: { reach: Reach }) => {
    const { audience, part, isPull, eventId, entryId, isMailed, now } = event;
    const { repo, issueId, doerId } = audience;
    const rows = sql`(${selectCandidates(audience, part)}) ${candidates}`;
    const isNotified = isRecipient(audience, reach);
    const queueMails = insertSelect(
      db,
      mails,
      {
        userId: candidates.userId,
        address: "",
        sealedContent: "",
        issueId,
        eventId,
        reason: sql`case ${candidates.reason}
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
        join ${users} on ${users.id} = ${candidates.userId}
        where ${isNotified}
          and (${users.emailNotifications} in ('enabled', 'andyourown')
            or ${users.emailNotifications} = 'onmention'
              and ${candidates.reason} > ${REASON.subscribed})
          and (${users.id} <> ${doerId} or ${users.emailNotifications} = 'andyourown')
          and not exists (
            select 1
            from ${notifications}
            where ${notifications.userId} = ${candidates.userId}
              and ${notifications.issueId} = ${issueId}
              and ${notifications.eventId} >= ${eventId}
          )`,
    ).onConflictDoNothing();
    const upsert = insertSelect(
      db,
      notifications,
      {
        userId: candidates.userId,
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
        where ${candidates.userId} <> ${doerId} and ${isNotified}`,
    ).onConflictDoUpdate({
      target: [notifications.userId, notifications.issueId],
      targetWhere: isNotNull(notifications.issueId),
      set: {
        ...RENEWAL,
        entryId: sql`coalesce(excluded.entry_id, ${notifications.entryId})`,
      },
      setWhere: isLaterEvent,
    });
    const counted = db
      .select({
        lastId: sql<number | null>`max(${candidates.userId})`.as("last_id"),
        size: sql<number>`count(*)`.as("size"),
      })
      .from(rows);
    return { counted, queueMails: isMailed ? queueMails : undefined, upsert };
  },
);
