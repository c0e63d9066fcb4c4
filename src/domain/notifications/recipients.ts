import { sql, type SQL } from "drizzle-orm";

import { isBlockedBy } from "../../auth/access/blocks.ts";
import { type MentionedNames, mentionedUserIds } from "../../auth/access/mentioned-users.ts";
import { type Reach, reachesBy } from "../../auth/access/people.ts";
import { teamMemberIds } from "../../auth/access/teams.ts";
import type { Params } from "../../db/prepared.ts";
import { users, watches, type Issue, type Repository } from "../../db/schema/index.ts";
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

/** An audience as values of a query. */
export interface AudienceValues {
  readonly repo: Pick<Repository, "id" | "ownerId">;
  readonly doerId: number;
  readonly isForAll: boolean;
  readonly mentioned: { readonly users: readonly string[]; readonly teams: string };
  /** JSON of users whom the event concerns: id, reason, and whether they unsubscribed. */
  readonly named: string;
  /** 0 for nobody. */
  readonly askedUserId: number;
  readonly askedTeamId: number;
}

export const toValues = (audience: Audience): AudienceValues => ({
  repo: { id: audience.repo.id, ownerId: audience.repo.ownerId },
  doerId: audience.doerId,
  isForAll: audience.isForAll,
  mentioned: {
    users: audience.mentioned.users,
    teams: JSON.stringify(audience.mentioned.teams),
  },
  named: JSON.stringify([
    ...audience.participants.map((each) => [each.userId, each.reason, Number(each.isUnsubscribed)]),
    ...audience.others.map((userId) => [userId, REASON.subscribed, 0]),
  ]),
  askedUserId: audience.asked?.userId ?? 0,
  askedTeamId: audience.asked?.teamId ?? 0,
});

/**
 * Selects a part of those whom an event concerns, each once, whether or not they may be told: `user_id`, `reason` and
 * `is_unsubscribed`.
 *
 * Each source is read in the order of user ids, from where the part begins and no further than it can reach.
 *
 * @param audience With the same part of the participants.
 */
export function selectConcerned(
  { repo, isForAll, mentioned, named, askedUserId, askedTeamId }: Params<AudienceValues>,
  { afterId, size }: Params<AudiencePart>,
): SQL {
  const byText = sql`
    select user_id, ${REASON.mention} as reason, 0 as is_unsubscribed
    from (${mentionedUserIds(repo.ownerId, mentioned)})
    where user_id > ${afterId}`;
  const reviewers = sql`
    select ${users.id} as user_id, ${REASON.reviewRequest} as reason, 0 as is_unsubscribed
    from ${users}
    where (${users.id} = ${askedUserId} or ${users.id} in ${teamMemberIds(askedTeamId)})
      and ${users.id} > ${afterId}`;
  const given = sql`
    select value ->> 0 as user_id, value ->> 1 as reason, value ->> 2 as is_unsubscribed
    from json_each(${named})
    where value ->> 0 > ${afterId}`;
  const watchers = sql`
    select ${watches.userId} as user_id, ${REASON.subscribed} as reason, 0 as is_unsubscribed
    from ${watches}
    where ${watches.repoId} = ${repo.id} and ${watches.userId} > ${afterId}
    order by user_id
    limit ${size}`;
  const sources = [byText, reviewers, given, ...(isForAll ? [watchers] : [])];
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
 *
 * @param reach Of those who may read the issue.
 */
export function isTold({ repo, doerId }: Params<AudienceValues>, reach: Reach): SQL {
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
    and ${reachesBy(userId, repo, reach)}`;
}
