import { type SQL, sql } from "drizzle-orm";

import { jsonRows } from "../../db/json-rows.ts";
import { reviews, teams } from "../../db/schema/index.ts";

/** The teams that are asked to review a pull request, first to last, as a column of a query over pull requests. */
export const requestedTeams = (issueId: SQL) =>
  jsonRows(
    teams,
    sql`
      from ${reviews}
      join ${teams} on ${teams.id} = ${reviews.teamId}
      where ${reviews.issueId} = ${issueId} and ${reviews.state} = 'request_review'
      order by ${reviews.id}`,
    "requested_teams",
  );
