import { eq, type SQL, sql } from "drizzle-orm";

import { anyOf } from "../../db/db.ts";
import {
  ACCESS,
  collaborations,
  hooks,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
  users,
} from "../../db/schema/index.ts";

/** Whether whoever set the hook up may still administer its place, as SQL over `hooks`. */
export const isApproved: SQL = sql`case ${hooks.level}
  when 'repository' then ${administersRepository()}
  when 'organization' then ${ownsOrganization()}
  when 'user' then ${isApprover(sql`${hooks.approverId} = ${hooks.ownerId}`)}
  else ${isApprover(sql`0`)}
end`;

function isApprover(condition: SQL): SQL {
  return sql`(
    ${hooks.approverId} = 0
    or exists (
      select 1
      from ${users}
      where ${users.id} = ${hooks.approverId}
        and ${users.isActive}
        and not ${users.isLoginProhibited}
        and (${users.isAdmin} or ${condition})
    )
  )`;
}

function ownsOrganization(): SQL {
  return isApprover(
    sql`exists (
      select 1
      from ${teamMembers}
      join ${teams} on ${teams.id} = ${teamMembers.teamId}
      where ${teamMembers.userId} = ${hooks.approverId}
        and ${teams.orgId} = ${hooks.ownerId}
        and ${teams.access} = ${ACCESS.owner}
    )`,
  );
}

function administersRepository(): SQL {
  const reachesRepository = sql`(
    ${teams.includesAllRepositories}
    or exists (
      select 1
      from ${teamRepositories}
      where ${teamRepositories.teamId} = ${teams.id}
        and ${teamRepositories.repoId} = ${repositories.id}
    )
  )`;
  const isCollaborator = sql`exists (
    select 1
    from ${collaborations}
    where ${collaborations.repoId} = ${repositories.id}
      and ${collaborations.userId} = ${hooks.approverId}
      and ${collaborations.access} >= ${ACCESS.admin}
  )`;
  const isInTeam = sql`exists (
    select 1
    from ${teamMembers}
    join ${teams} on ${teams.id} = ${teamMembers.teamId}
    where ${teamMembers.userId} = ${hooks.approverId}
      and ${teams.orgId} = ${repositories.ownerId}
      and ${teams.access} >= ${ACCESS.admin}
      and ${reachesRepository}
  )`;
  const administers = anyOf(eq(repositories.ownerId, hooks.approverId), isCollaborator, isInTeam);
  return isApprover(
    sql`exists (
      select 1 from ${repositories} where ${repositories.id} = ${hooks.repoId} and ${administers}
    )`,
  );
}
