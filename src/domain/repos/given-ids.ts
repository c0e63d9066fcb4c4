import { sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import {
  collaborations,
  organizationMembers,
  repositories,
  teamMembers,
  teamRepositories,
  teams,
} from "../../db/schema/index.ts";

/** Ids of what the caller sees because it was given to them, beyond what is open to everybody like them. */
export function givenIds(ctx: Ctx): SQL {
  const userId = ctx.actor.user?.id;
  if (userId === undefined || ctx.actor.isSiteAdmin)
    return sql`select id from ${repositories} where 0`;
  return sql`
    select id from ${repositories} where owner_id = ${userId}
    union all select ${collaborations.repoId} from ${collaborations} where ${collaborations.userId} = ${userId}
    union all select ${teamRepositories.repoId} from ${teamMembers} join ${teamRepositories} on ${teamRepositories.teamId} = ${teamMembers.teamId} where ${teamMembers.userId} = ${userId}
    union all select r.id from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId} and ${teams.includesAllRepositories} join ${repositories} r on r.owner_id = ${teams.orgId} where ${teamMembers.userId} = ${userId}
    union all select r.id from ${organizationMembers} join ${repositories} r on r.owner_id = ${organizationMembers.orgId} and not r.is_private where ${organizationMembers.userId} = ${userId}`;
}
