import { sql, type SQL } from "drizzle-orm";

import { ACCESS, repositories, teamRepositories, teams } from "../../db/schema/index.ts";
import type { Requirement } from "./requirement.ts";

/** The condition for a team, in a query over `teams` and `repositories`, that reaches the repository. */
export const reachesRepository: SQL = sql`(
  ${teams.includesAllRepositories} or exists (
    select 1 from ${teamRepositories}
    where ${teamRepositories.teamId} = ${teams.id}
      and ${teamRepositories.repoId} = ${repositories.id}
  )
)`;

/** The condition for a team that gives its members what is required in a repository that it reaches. */
export function teamGives({ unit, mode }: Requirement): SQL {
  // Teams of administrators and owners give their mode everywhere; of others each unit decides.
  const isAdministering = sql`${teams.access} >= ${sql.raw(String(ACCESS.admin))}`;
  const least = sql.raw(String(ACCESS[mode]));
  if (unit !== undefined) {
    const ofUnit = sql`${teams.units} ->> ${sql.raw(`'$.${unit}'`)}`;
    return sql`case when ${isAdministering} then ${teams.access} else ${ofUnit} end >= ${least}`;
  }
  if (mode !== "read") return sql`${teams.access} >= ${least}`;
  return sql`(
    ${isAdministering} or exists (select 1 from json_each(${teams.units}) where value > 0)
  )`;
}
