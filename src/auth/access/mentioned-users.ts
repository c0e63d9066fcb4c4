import { sql, type SQL } from "drizzle-orm";

import { teamMembers, teams, users, type Repository } from "../../db/schema/index.ts";

/** Names in lower case that a text mentions. */
export interface MentionedNames {
  readonly users: readonly string[];
  readonly teams: readonly { readonly org: string; readonly team: string }[];
}

/**
 * Selects the ids of users whom a text in a repository mentions, as `user_id`: by their names, and as members of teams
 * of the organization that owns the repository.
 *
 * SECURITY: whoever is told of it must also be allowed to read it, which this does not check.
 */
export const mentionedUserIds = (
  { ownerId }: Pick<Repository, "ownerId">,
  names: MentionedNames,
): SQL => sql`
  select ${users.id} as user_id
  from ${users}
  where ${users.kind} = 'user'
    and ${users.lowerName} in (select value from json_each(${JSON.stringify(names.users)}))
  union all
  select ${teamMembers.userId} as user_id
  from json_each(${JSON.stringify(names.teams)}) mention
  join ${users} on ${users.lowerName} = mention.value ->> 'org'
  join ${teams} on ${teams.orgId} = ${users.id} and ${teams.lowerName} = mention.value ->> 'team'
  join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
  where ${users.id} = ${ownerId}`;
