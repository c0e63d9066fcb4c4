import { type SQL, sql } from "drizzle-orm";

import { jsonRows } from "../../db/json-rows.ts";
import { reviews, teamMembers, teams } from "../../db/schema/index.ts";

/**
 * The teams that are asked to review a pull request, first to last, as a column of a query over
 * pull requests.
 */
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

/** Selects the ids of the pull requests that ask a team of a user for a review, as `issue_id`. */
export const pullsAskingTeamsOf = (userId: SQL): SQL => sql`
  select ${reviews.issueId} as issue_id
  from ${teamMembers} join ${reviews} on ${reviews.teamId} = ${teamMembers.teamId}
  where ${teamMembers.userId} = ${userId} and ${reviews.state} = 'request_review'`;

/** The condition that a pull request asks a team of a user for a review. */
export const isTeamAsked = (issueId: SQL, userId: SQL): SQL => sql`exists (
  select 1
  from ${reviews} join ${teamMembers} on ${teamMembers.teamId} = ${reviews.teamId}
  where ${reviews.issueId} = ${issueId}
    and ${reviews.state} = 'request_review'
    and ${teamMembers.userId} = ${userId}
)`;
