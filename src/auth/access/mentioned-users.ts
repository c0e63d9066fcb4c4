import { sql, type SQL } from "drizzle-orm";

import { teamMembers, teams, users } from "../../db/schema/index.ts";

/** Names in lower case that a text mentions. */
export interface MentionedNames {
  readonly users: readonly string[];
  readonly teams: readonly { readonly org: string; readonly team: string }[];
}

/** The names as a query has them. */
export interface MentionedSql {
  /** A subquery of one column. */
  readonly users: SQL;
  /** JSON of the teams. */
  readonly teams: SQL | string;
}

/** The names as values of a query. */
export const mentionedSql = ({ users: named, teams: ofOrgs }: MentionedNames): MentionedSql => ({
  users: sql`(select value from json_each(${JSON.stringify(named)}))`,
  teams: JSON.stringify(ofOrgs),
});

/**
 * Selects the ids of users whom a text in a repository mentions, as `user_id`: by their names, and
 * as members of teams of the organization that owns the repository.
 *
 * SECURITY: recipients must also be allowed to read it, which this does not check.
 */
export const mentionedUserIds = (ownerId: number | SQL, names: MentionedSql): SQL => sql`
  select ${users.id} as user_id
  from ${users}
  where ${users.kind} = 'user' and ${users.lowerName} in ${names.users}
  union all
  select ${teamMembers.userId} as user_id
  from json_each(${names.teams}) mention
  join ${users} on ${users.lowerName} = mention.value ->> 'org'
  join ${teams} on ${teams.orgId} = ${users.id} and ${teams.lowerName} = mention.value ->> 'team'
  join ${teamMembers} on ${teamMembers.teamId} = ${teams.id}
  where ${users.id} = ${ownerId}`;
