import { sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../auth/access/blocks.ts";
import { mentionedUserIds, type MentionedNames } from "../../auth/access/mentioned-users.ts";
import { reaches } from "../../auth/access/people.ts";
import { teamMemberIds } from "../../auth/access/teams.ts";
import {
  issueAssignees,
  issues,
  issueSubscriptions,
  reviews,
  timelineEntries,
  users,
  watches,
  type Issue,
  type Repository,
} from "../../db/schema/index.ts";
import { unitOf } from "../issues/find-issue.ts";

/** Whom an event of an issue concerns. */
export interface Audience {
  readonly repo: Repository;
  readonly issue: Issue;
  /** Who caused the event; 0 for nobody. */
  readonly doerId: number;
  /** Whether subscribers, watchers and participants are told. */
  readonly isForAll: boolean;
  readonly mentioned: MentionedNames;
  /** Users whom the event concerns beside those, by their ids. */
  readonly others: readonly number[];
  /** The user to whom it was assigned; undefined for other events. */
  readonly assigneeId: number | undefined;
  /** The user, or the team, that is asked for a review; undefined for other events. */
  readonly asked?: { readonly userId: number | null; readonly teamId: number | null } | undefined;
}

/** A part of the audience, in the order of user ids. */
export interface AudiencePart {
  /** The last user of the part before it; 0 for the first one. */
  readonly afterId: number;
  readonly size: number;
}

/** Why a user is told, as numbers of which the highest counts. */
export const REASON = { subscribed: 0, assign: 1, reviewRequest: 2, mention: 3 } as const;

/**
 * Selects a part of those whom an event concerns, each once, whether or not they may be told: `user_id` and `reason`.
 *
 * Each source is read in the order of user ids, from where the part begins and no further than it can reach.
 */
export function selectConcerned(audience: Audience, { afterId, size }: AudiencePart): SQL {
  const { issue, repo, isForAll, others, mentioned, assigneeId, asked } = audience;
  const next = (userId: SQL): SQL => sql`and ${userId} > ${afterId} order by user_id limit ${size}`;
  const named = sql`
    select user_id, ${REASON.mention} as reason
    from (${mentionedUserIds(repo, mentioned)})
    where user_id > ${afterId}`;
  const assigned = sql`
    select ${issueAssignees.userId} as user_id, ${REASON.assign} as reason
    from ${issueAssignees}
    where ${issueAssignees.issueId} = ${issue.id}
      and ${issueAssignees.userId} = ${assigneeId ?? 0}
      and ${issueAssignees.userId} > ${afterId}`;
  // Nobody is told of a request that was taken back meanwhile.
  const reviewers = sql`
    select ${users.id} as user_id, ${REASON.reviewRequest} as reason
    from ${users}
    where (${users.id} = ${asked?.userId ?? 0}
        or ${users.id} in ${teamMemberIds(asked?.teamId ?? 0)})
      and ${users.id} > ${afterId}
      and exists (
        select 1
        from ${reviews}
        where ${reviews.issueId} = ${issue.id}
          and (${reviews.reviewerId} = ${asked?.userId ?? 0}
            or ${reviews.teamId} = ${asked?.teamId ?? 0})
      )`;
  const poster = sql`
    select ${issues.posterId} as user_id, ${REASON.subscribed} as reason
    from ${issues}
    where ${issues.id} = ${issue.id} and ${issues.posterId} > ${afterId} and ${isForAll ? 1 : 0}`;
  const given = sql`
    select value as user_id, ${REASON.subscribed} as reason
    from json_each(${JSON.stringify(others)})
    where value > ${afterId}`;
  // Few rows each, without a limit.
  const few = [named, assigned, reviewers, poster, given];
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
        where ${issueSubscriptions.issueId} = ${issue.id}
          and ${issueSubscriptions.isSubscribed} ${next(sql`${issueSubscriptions.userId}`)}`,
      sql`
        select ${issueAssignees.userId} as user_id, ${REASON.subscribed} as reason
        from ${issueAssignees}
        where ${issueAssignees.issueId} = ${issue.id}
          and ${issueAssignees.userId} > ${afterId}
        union
        select ${reviews.reviewerId} as user_id, ${REASON.subscribed} as reason
        from ${reviews}
        where ${reviews.issueId} = ${issue.id}
          and ${reviews.state} <> 'pending' ${next(sql`${reviews.reviewerId}`)}`,
      selectCommenters(issue.id, { afterId, size }),
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

/** Skips from one commenter to the next one in the index, past all their comments. */
function selectCommenters(issueId: number, { afterId, size }: AudiencePart): SQL {
  const nextAfter = (id: SQL): SQL => sql`(
    select min(${timelineEntries.posterId})
    from ${timelineEntries}
    where ${timelineEntries.issueId} = ${issueId}
      and ${timelineEntries.kind} = 'comment'
      and ${timelineEntries.posterId} > ${id}
  )`;
  return sql`
    with recursive commenters (user_id) as (
      select ${nextAfter(sql`${afterId}`)}
      union all
      select ${nextAfter(sql`commenters.user_id`)}
      from commenters
      where commenters.user_id is not null
      limit ${size + 1}
    )
    select user_id, ${REASON.subscribed} as reason
    from commenters
    where user_id is not null`;
}

/**
 * The condition that a user whom an event concerns is told of it.
 *
 * Who unsubscribed from the issue is told where they are named, as in Gitea. Nobody is told by somebody whom they block.
 *
 * SECURITY: nobody is told who may not read the issue, however they came among those concerned.
 */
export function isTold(userId: SQL, reason: SQL, { repo, issue, doerId }: Audience): SQL {
  return sql`exists (
      select 1
      from ${users}
      where ${users.id} = ${userId}
        and ${users.kind} = 'user'
        and ${users.isActive}
        and not ${users.isLoginProhibited}
    )
    and (${reason} > ${REASON.subscribed} or not exists (
      select 1
      from ${issueSubscriptions}
      where ${issueSubscriptions.issueId} = ${issue.id}
        and ${issueSubscriptions.userId} = ${userId}
        and not ${issueSubscriptions.isSubscribed}
    ))
    and not ${isBlockedBy(sql`${doerId}`, userId)}
    and ${reaches(userId, repo, { unit: unitOf(issue), mode: "read" })}`;
}
