import { sql } from "drizzle-orm";

import { reaches } from "../../../auth/access/people.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import {
  isTeamAmong,
  isTeamOfRepository,
  selectTeamsHolding,
  teamIdsOf,
} from "../../../auth/access/teams.ts";
import { teamGrants } from "../../../auth/access/team-modes.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, flagColumn } from "../../../db/db.ts";
import { users, type BranchProtection } from "../../../db/schema/index.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { rulesOfBranch } from "./match-rule.ts";
import { isListed } from "./permitted.ts";
import { loadRules } from "./select-rules.ts";

/** A user who reviews. */
interface Reviewer {
  readonly userId: number;
  /** Their teams in the organization of the repository. */
  readonly teamIds: readonly number[];
  readonly canWriteCode: boolean;
}

/**
 * Whether the approval or rejection of a user counts: for each rule that the base is under, they
 * are on the list of those whose approvals count, or there is none and they may write the code. The
 * latter also without a rule.
 *
 * @param rules Of the base, as `rulesOfBranch` finds them.
 */
function isOfficialReviewer(
  rules: readonly BranchProtection[],
  { userId, teamIds, canWriteCode }: Reviewer,
): boolean {
  if (rules.length === 0) return canWriteCode;
  return rules.every(({ settings: { approval } }) =>
    approval.isRestricted ? isListed(approval, { userId, teamIds }) : canWriteCode,
  );
}

/** The same for a team that is asked for a review. */
const isOfficialTeam = (
  rules: readonly BranchProtection[],
  { teamId, canWriteCode }: { teamId: number; canWriteCode: boolean },
): boolean =>
  rules.length === 0
    ? canWriteCode
    : rules.every(({ settings: { approval } }) =>
        approval.isRestricted ? approval.teamIds.includes(teamId) : canWriteCode,
      );

/**
 * Whether the caller's review of a pull request into a branch counts. Cost: a query where the rules
 * are not loaded.
 */
export async function isOfficialCaller(
  ctx: Ctx,
  repo: RepositoryContext,
  branch: string,
): Promise<boolean> {
  const { user } = ctx.actor;
  if (!user) return false;
  const rules = await loadRules(ctx, repo);
  return isOfficialReviewer(rulesOfBranch(rules, branch), {
    userId: user.id,
    teamIds: rules.callerTeamIds,
    canWriteCode: isAllowed(repo, { unit: "code", mode: "write" }),
  });
}

/** Users and teams, by their ids. */
export interface ReviewerIds {
  readonly userIds: readonly number[];
  readonly teamIds: readonly number[];
}

/**
 * Finds the users and teams, among some, whose reviews of a pull request into a branch count.
 *
 * Cost: one round trip to the database, and another one before it where the rules are not loaded.
 */
export async function findOfficialReviewers(
  ctx: Ctx,
  repo: RepositoryContext,
  branch: string,
  { userIds, teamIds }: ReviewerIds,
): Promise<ReviewerIds> {
  if (userIds.length === 0 && teamIds.length === 0) return { userIds, teamIds };
  const { row } = repo;
  const loaded = await loadRules(ctx, repo);
  const rules = rulesOfBranch(loaded, branch);
  const toWrite = { unit: "code", mode: "write" } as const;
  const userId = sql`${users.id}`;
  const { people, teams } = await batch(ctx.db, {
    people: ctx.db
      .select({
        userId: users.id,
        canWriteCode: flagColumn(reaches(userId, row, toWrite), "can_write_code"),
        teamIds: sql`(
          select json_group_array(id) from ${teamIdsOf(sql`${row.ownerId}`, userId)}
        )`
          .mapWith((text: string) => JSON.parse(text) as number[])
          .as("team_ids"),
      })
      .from(users)
      .where(sql`${users.id} in (select value from json_each(${JSON.stringify(userIds)}))`),
    teams: selectTeamsHolding(
      ctx.db,
      row.ownerId,
      isTeamAmong(sql`(select value from json_each(${JSON.stringify(teamIds)}))`),
      allOf(isTeamOfRepository(row), teamGrants(toWrite)),
    ),
  });
  return {
    userIds: people.filter((each) => isOfficialReviewer(rules, each)).map((each) => each.userId),
    teamIds: teams
      .filter(({ id, holds }) => isOfficialTeam(rules, { teamId: id, canWriteCode: holds }))
      .map(({ id }) => id),
  };
}
