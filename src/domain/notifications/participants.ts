import { sql, type SQL } from "drizzle-orm";

import type { Database } from "../../db/db.ts";
import { type Params, prepare } from "../../db/prepared.ts";
import {
  issueAssignees,
  issues,
  issueSubscriptions,
  reviews,
  timelineEntries,
} from "../../db/schema/index.ts";

/** Why a user is told, as numbers of which the highest counts. `none` is no reason: they only unsubscribed. */
export const REASON = { none: -1, subscribed: 0, assign: 1, reviewRequest: 2, mention: 3 } as const;

/** A part of those whom an event concerns, in the order of user ids. */
export interface AudiencePart {
  /** The last user of the part before it; 0 for the first one. */
  readonly afterId: number;
  readonly size: number;
}

/** What an event says of those who take part in its issue. 0 stands for what it has not. */
export interface ParticipantsAsked extends AudiencePart {
  readonly issueId: number;
  /** Whether subscribers and participants are told. */
  readonly isForAll: boolean;
  /** The user to whom it was assigned. */
  readonly assigneeId: number;
  /** The review that was dismissed. */
  readonly dismissedId: number;
}

/** A user whom the rows of an issue name. */
export interface Participant {
  readonly userId: number;
  /** One of `REASON`. */
  readonly reason: number;
  readonly isUnsubscribed: boolean;
}

/**
 * Selects a part of those whom the rows of an issue name, each once, in the order of their ids: whoever takes part in it,
 * subscribed or unsubscribed. All of these are in the database of the repository; watchers and teams are not.
 *
 * Each source is read in the order of user ids, from where the part begins and no further than it can reach.
 */
export const participantsOf = prepare((db, asked: Params<ParticipantsAsked>) =>
  selectParticipants(db, asked),
);

function selectParticipants(db: Database, asked: Params<ParticipantsAsked>) {
  const { issueId, afterId, size, isForAll, assigneeId, dismissedId } = asked;
  const assigned = sql`
    select ${issueAssignees.userId} as user_id, ${REASON.assign} as reason
    from ${issueAssignees}
    where ${issueAssignees.issueId} = ${issueId}
      and ${issueAssignees.userId} = ${assigneeId}
      and ${issueAssignees.userId} > ${afterId}`;
  // Of an event that few are told of, these are told beside the assignee.
  const unsubscribed = sql`
    select ${issueSubscriptions.userId} as user_id, ${REASON.none} as reason
    from ${issueSubscriptions}
    where ${issueSubscriptions.issueId} = ${issueId}
      and not ${issueSubscriptions.isSubscribed}
      and ${issueSubscriptions.userId} > ${afterId}
      and ${issueSubscriptions.userId} in (
        select ${issues.posterId} from ${issues} where ${issues.id} = ${issueId}
        union all
        select ${reviews.reviewerId} from ${reviews} where ${reviews.id} = ${dismissedId}
      )`;
  const sources = isForAll ? [assigned, ...selectAll(asked)] : [assigned, unsubscribed];
  const named = sources.map((source) => sql`select * from (${source})`);
  return db
    .select({
      userId: sql<number>`user_id`.as("p_user_id"),
      reason: sql<number>`max(reason)`.as("p_reason"),
      isUnsubscribed: sql<boolean>`min(reason) = ${REASON.none}`
        .mapWith((value: unknown) => value === 1)
        .as("p_is_unsubscribed"),
    })
    .from(sql`(${sql.join(named, sql` union all `)})`)
    .groupBy(sql`user_id`)
    .orderBy(sql`user_id`)
    .limit(size);
}

function selectAll({ issueId, afterId, size }: Params<ParticipantsAsked>): SQL[] {
  const next = (userId: SQL): SQL => sql`and ${userId} > ${afterId} order by user_id limit ${size}`;
  const poster = sql`
    select ${issues.posterId} as user_id, ${REASON.subscribed} as reason
    from ${issues}
    where ${issues.id} = ${issueId} and ${issues.posterId} > ${afterId}`;
  const subscriptions = sql`
    select ${issueSubscriptions.userId} as user_id,
      iif(${issueSubscriptions.isSubscribed}, ${REASON.subscribed}, ${REASON.none}) as reason
    from ${issueSubscriptions}
    where ${issueSubscriptions.issueId} = ${issueId} ${next(sql`${issueSubscriptions.userId}`)}`;
  const assigneesAndReviewers = sql`
    select ${issueAssignees.userId} as user_id, ${REASON.subscribed} as reason
    from ${issueAssignees}
    where ${issueAssignees.issueId} = ${issueId}
      and ${issueAssignees.userId} > ${afterId}
    union
    select ${reviews.reviewerId} as user_id, ${REASON.subscribed} as reason
    from ${reviews}
    where ${reviews.issueId} = ${issueId}
      and ${reviews.state} <> 'pending' ${next(sql`${reviews.reviewerId}`)}`;
  return [poster, subscriptions, assigneesAndReviewers, selectCommenters(issueId, afterId, size)];
}

/** Skips from one commenter to the next one in the index, past all their comments. */
function selectCommenters(issueId: SQL, afterId: SQL, size: SQL): SQL {
  const nextAfter = (id: SQL): SQL => sql`(
    select min(${timelineEntries.posterId})
    from ${timelineEntries}
    where ${timelineEntries.issueId} = ${issueId}
      and ${timelineEntries.kind} = 'comment'
      and ${timelineEntries.posterId} > ${id}
  )`;
  return sql`
    with recursive commenters (user_id) as (
      select ${nextAfter(afterId)}
      union all
      select ${nextAfter(sql`commenters.user_id`)}
      from commenters
      where commenters.user_id is not null
      limit ${size} + 1
    )
    select user_id, ${REASON.subscribed} as reason
    from commenters
    where user_id is not null`;
}
