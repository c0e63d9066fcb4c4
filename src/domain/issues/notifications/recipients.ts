import { sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../../auth/access/blocks.ts";
import { mentionedUserIds } from "../../../auth/access/mentioned-users.ts";
import { type Reach, reachesBy } from "../../../auth/access/people.ts";
import { teamMemberIds } from "../../../auth/access/teams.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import type { Params } from "../../../db/prepared.ts";
import {
  issueAssignees,
  issues,
  issueSubscriptions,
  reviews,
  timelineEntries,
  users,
  watches,
  type Repository,
} from "../../../db/schema/index.ts";

/** The users who may have to be notified of an event of an issue, as values of a query. */
export interface Audience {
  readonly repo: Pick<Repository, "id" | "ownerId">;
  readonly issueId: number;
  /** The user who caused the event; 0 for nobody. */
  readonly doerId: number;
  /** Whether subscribers, watchers and participants are notified. */
  readonly isForAll: boolean;
  /** Names in lower case; those of teams as JSON. */
  readonly mentioned: { readonly users: readonly string[]; readonly teams: string };
  /** Ids of further users. */
  readonly others: readonly number[];
  /** The user to whom it was assigned; 0 for other events. */
  readonly assigneeId: number;
  /** The user, or the team, whose review is requested; 0 for other events. */
  readonly requestedUserId: number;
  readonly requestedTeamId: number;
}

/** A part of the audience, in the order of user ids. */
export interface AudiencePart {
  /** The last user of the part before it; 0 for the first one. */
  readonly afterId: number;
  readonly size: number;
}

/** Reasons to notify a user, as numbers of which the highest counts. */
export const REASON = { subscribed: 0, assign: 1, reviewRequest: 2, mention: 3 } as const;

/** The users whom `selectCandidates` selects. */
export const candidates = derivedTable("candidates", "userId", "reason");

/**
 * Selects a part of an audience, each user once, whether or not the user may be notified: `user_id`
 * and `reason`.
 *
 * Each source is read in the order of user ids, from where the part begins and no further than it
 * can reach.
 */
export function selectCandidates(
  audience: Params<Audience>,
  { afterId, size }: Params<AudiencePart>,
): SQL {
  const { repo, issueId, isForAll, others, mentioned, assigneeId } = audience;
  const { requestedUserId, requestedTeamId } = audience;
  const next = (userId: SQL): SQL => sql`and ${userId} > ${afterId} order by user_id limit ${size}`;
  const named = sql`
    select user_id, ${REASON.mention} as reason
    from (${mentionedUserIds(repo.ownerId, mentioned)})
    where user_id > ${afterId}`;
  const assigned = sql`
    select ${issueAssignees.userId} as user_id, ${REASON.assign} as reason
    from ${issueAssignees}
    where ${issueAssignees.issueId} = ${issueId}
      and ${issueAssignees.userId} = ${assigneeId}
      and ${issueAssignees.userId} > ${afterId}`;
  // Not if the request was withdrawn meanwhile.
  const reviewers = sql`
    select ${users.id} as user_id, ${REASON.reviewRequest} as reason
    from ${users}
    where (${users.id} = ${requestedUserId} or ${users.id} in ${teamMemberIds(requestedTeamId)})
      and ${users.id} > ${afterId}
      and exists (
        select 1
        from ${reviews}
        where ${reviews.issueId} = ${issueId}
          and (${reviews.reviewerId} = ${requestedUserId} or ${reviews.teamId} = ${requestedTeamId})
      )`;
  const given = sql`
    select value as user_id, ${REASON.subscribed} as reason
    from ${others}
    where value > ${afterId}`;
  const poster = sql`
    select ${issues.posterId} as user_id, ${REASON.subscribed} as reason
    from ${issues}
    where ${issues.id} = ${issueId} and ${issues.posterId} > ${afterId}`;
  // Few rows each, without a limit.
  const few = [named, assigned, reviewers, given, ...(isForAll ? [poster] : [])];
  const sources = [sql.join(few, sql` union all `)];
  if (isForAll) {
    sources.push(
      sql`
        select ${watches.userId} as user_id, ${REASON.subscribed} as reason
        from ${watches}
        where ${watches.repoId} = ${repo.id} ${next(sql`${watches.userId}`)}`,
      sql`
        select ${issueSubscriptions.userId} as user_id, ${REASON.subscribed} as reason
        from ${issueSubscriptions}
        where ${issueSubscriptions.issueId} = ${issueId}
          and ${issueSubscriptions.isSubscribed} ${next(sql`${issueSubscriptions.userId}`)}`,
      sql`
        select ${issueAssignees.userId} as user_id, ${REASON.subscribed} as reason
        from ${issueAssignees}
        where ${issueAssignees.issueId} = ${issueId}
          and ${issueAssignees.userId} > ${afterId}
        union
        select ${reviews.reviewerId} as user_id, ${REASON.subscribed} as reason
        from ${reviews}
        where ${reviews.issueId} = ${issueId}
          and ${reviews.state} <> 'pending' ${next(sql`${reviews.reviewerId}`)}`,
      selectCommenters(issueId, afterId, size),
    );
  }
  const all = sources.map((source) => sql`select * from (${source})`);
  return sql`
    select user_id, max(reason) as reason
    from (${sql.join(all, sql` union all `)})
    group by user_id
    order by user_id
    limit ${size}`;
}

const commenters = derivedTable("commenters", "userId");

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
    with recursive ${commenters}(user_id) as (
      select ${nextAfter(afterId)}
      union all
      select ${nextAfter(sql`${commenters.userId}`)}
      from ${commenters}
      where ${commenters.userId} is not null
      limit ${size} + 1
    )
    select ${commenters.userId}, ${REASON.subscribed} as reason
    from ${commenters}
    where ${commenters.userId} is not null`;
}

/**
 * The condition that a user of the audience, a row of `candidates`, is notified.
 *
 * Users who unsubscribed from the issue are notified where they are named, as in Gitea. Events
 * caused by a blocked user notify nobody who blocks that user.
 *
 * SECURITY: users who may not read the issue are never notified, whatever made them candidates.
 *
 * @param reach The users who may read the issue.
 */
export function isRecipient({ repo, issueId, doerId }: Params<Audience>, reach: Reach): SQL {
  const userId = sql`${candidates.userId}`;
  return sql`exists (
      select 1
      from ${users}
      where ${users.id} = ${userId}
        and ${users.kind} = 'user'
        and ${users.isActive}
        and not ${users.isLoginProhibited}
    )
    and (${candidates.reason} > ${REASON.subscribed} or not exists (
      select 1
      from ${issueSubscriptions}
      where ${issueSubscriptions.issueId} = ${issueId}
        and ${issueSubscriptions.userId} = ${userId}
        and not ${issueSubscriptions.isSubscribed}
    ))
    and not ${isBlockedBy(sql`${doerId}`, userId)}
    and ${reachesBy(userId, repo, reach)}`;
}
