import { sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../auth/access/blocks.ts";
import { mentionedUserIds, type MentionedNames } from "../../auth/access/mentioned-users.ts";
import { reaches } from "../../auth/access/people.ts";
import { teamMemberIds } from "../../auth/access/teams.ts";
import { users, watches, type Issue, type Repository } from "../../db/schema/index.ts";
import { unitOf } from "../issues/find-issue.ts";
import { type AudiencePart, type Participant, REASON } from "./participants.ts";

/** Whom an event of an issue concerns. */
export interface Audience {
  /** The repository's row of the first database. */
  readonly repo: Repository;
  readonly issue: Issue;
  /** Who caused the event; 0 for nobody. */
  readonly doerId: number;
  /** Whether watchers are told too. */
  readonly isForAll: boolean;
  readonly mentioned: MentionedNames;
  /** Whom the rows of the issue name. */
  readonly participants: readonly Participant[];
  /** Users whom the event concerns beside those, by their ids. */
  readonly others: readonly number[];
  /** The user, or the team, that is asked for a review; undefined for other events, and where nobody is asked any more. */
  readonly asked?: { readonly userId: number | null; readonly teamId: number | null } | undefined;
}

/**
 * Selects a part of those whom an event concerns, each once, whether or not they may be told: `user_id`, `reason` and
 * `is_unsubscribed`.
 *
 * Each source is read in the order of user ids, from where the part begins and no further than it can reach.
 *
 * @param audience With the same part of the participants.
 */
export function selectConcerned(audience: Audience, { afterId, size }: AudiencePart): SQL {
  const { repo, isForAll, participants, others, mentioned, asked } = audience;
  const named = sql`
    select user_id, ${REASON.mention} as reason, 0 as is_unsubscribed
    from (${mentionedUserIds(repo, mentioned)})
    where user_id > ${afterId}`;
  const reviewers = sql`
    select ${users.id} as user_id, ${REASON.reviewRequest} as reason, 0 as is_unsubscribed
    from ${users}
    where (${users.id} = ${asked?.userId ?? 0}
        or ${users.id} in ${teamMemberIds(asked?.teamId ?? 0)})
      and ${users.id} > ${afterId}`;
  const rows = [
    ...participants.map((each) => [each.userId, each.reason, Number(each.isUnsubscribed)]),
    ...others.map((userId) => [userId, REASON.subscribed, 0]),
  ];
  const given = sql`
    select value ->> 0 as user_id, value ->> 1 as reason, value ->> 2 as is_unsubscribed
    from json_each(${JSON.stringify(rows)})
    where value ->> 0 > ${afterId}`;
  const watchers = sql`
    select ${watches.userId} as user_id, ${REASON.subscribed} as reason, 0 as is_unsubscribed
    from ${watches}
    where ${watches.repoId} = ${repo.id} and ${watches.userId} > ${afterId}
    order by user_id
    limit ${size}`;
  const sources = [named, reviewers, given, ...(isForAll ? [watchers] : [])];
  const all = sources.map((source) => sql`select * from (${source})`);
  return sql`
    select user_id, max(reason) as reason, max(is_unsubscribed) as is_unsubscribed
    from (${sql.join(all, sql` union all `)})
    group by user_id
    order by user_id
    limit ${size}`;
}

/**
 * The condition that a user whom an event concerns, `concerned` in the query, is told of it.
 *
 * Who unsubscribed from the issue is told where they are named, as in Gitea. Nobody is told by somebody whom they block.
 *
 * SECURITY: nobody is told who may not read the issue, however they came among those concerned.
 */
export function isTold({ repo, issue, doerId }: Audience): SQL {
  const userId = sql`concerned.user_id`;
  return sql`exists (
      select 1
      from ${users}
      where ${users.id} = ${userId}
        and ${users.kind} = 'user'
        and ${users.isActive}
        and not ${users.isLoginProhibited}
    )
    and concerned.reason >= iif(concerned.is_unsubscribed, ${REASON.assign}, ${REASON.subscribed})
    and not ${isBlockedBy(sql`${doerId}`, userId)}
    and ${reaches(userId, repo, { unit: unitOf(issue), mode: "read" })}`;
}
