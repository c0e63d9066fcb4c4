import { sql, type SQL } from "drizzle-orm";

import { ACCESS, repositories, teamRepositories, teams } from "../../db/schema/index.ts";
import type { Requirement } from "./requirement.ts";

/**
 * The condition that the team reaches the repository, in a query over `teams` and `repositories`.
 */
export const reachesRepository: SQL = sql`(
  ${teams.includesAllRepositories} or exists (
    select 1 from ${teamRepositories}
    where ${teamRepositories.teamId} = ${teams.id}
      and ${teamRepositories.repoId} = ${repositories.id}
  )
)`;

/**
 * The condition that a team grants its members the required mode in repositories that it reaches.
 */
export function teamGrants({ unit, mode }: Requirement): SQL {
  // Teams of administrators and of owners own the repositories that they reach; others grant a mode
  // per unit.
  const isAdministering = sql`${teams.access} >= ${sql.raw(String(ACCESS.admin))}`;
  if (unit !== undefined) {
    const ofUnit = sql`${teams.units} ->> ${sql.raw(`'$.${unit}'`)}`;
    return sql`(${isAdministering} or ${ofUnit} >= ${sql.raw(String(ACCESS[mode]))})`;
  }
  if (mode !== "read") return isAdministering;
  return sql`(
    ${isAdministering} or exists (select 1 from json_each(${teams.units}) where value > 0)
  )`;
}
