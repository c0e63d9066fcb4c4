import { sql } from "drizzle-orm";

import {
  canJoinTeam,
  deleteLostWatches,
  deleteTeamRepository,
  insertTeamRepository,
  insertWatchesOfRepository,
} from "../../auth/access/team-changes.ts";
import { teamMemberIds } from "../../auth/access/teams.ts";
import type { Ctx } from "../../context.ts";
import { isViolation } from "../../db/db.ts";
import type { Repository, Team } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import { recordAuditIfChanged, recordAuditWhere } from "../audit/record-audit.ts";
import { inDirectory } from "../shards/in-directory.ts";
import { loseAssignments } from "../shards/lose-assignments.ts";

/**
 * Adds a repository of the organization to a team, whose members watch it from then on. Idempotent; a team with all
 * repositories has it already.
 *
 * @throws Failure `not_found` if another request has deleted the team.
 */
export async function addTeamRepository(
  callerCtx: Ctx,
  team: Team,
  repo: Repository,
): Promise<void> {
  if (team.includesAllRepositories) return;
  const ctx = inDirectory(callerCtx);
  try {
    await ctx.db.batch([
      recordAuditWhere(
        ctx,
        {
          kind: "team.repository_added",
          ownerId: team.orgId,
          repoId: repo.id,
          target: team.name,
        },
        canJoinTeam(team, repo),
      ),
      insertTeamRepository(ctx.db, team, repo),
      recordIfChanged(ctx, {
        type: "team.repository_added",
        ownerId: team.orgId,
        teamId: team.id,
        repositoryId: repo.id,
      }),
      insertWatchesOfRepository(ctx.db, repo.id, {
        team,
        now: ctx.now,
        // Only if the statement before, which records the addition, recorded one.
        isOn: sql`(${ctx.config.isAutoWatchOn} and changes() > 0)`,
      }),
    ]);
  } catch (error) {
    if (isViolation(error, "FOREIGN KEY")) throw notFound();
    throw error;
  }
}

/**
 * Removes a repository from a team. Idempotent; without effect for a team with all repositories. Members who may not see
 * it any more do not watch it any more.
 */
export async function removeTeamRepository(
  callerCtx: Ctx,
  team: Team,
  repo: Repository,
): Promise<void> {
  if (team.includesAllRepositories) return;
  const ctx = inDirectory(callerCtx);
  const { id: teamId, orgId } = team;
  await ctx.db.batch([
    deleteTeamRepository(ctx.db, team, repo),
    recordIfChanged(ctx, {
      type: "team.repository_removed",
      ownerId: orgId,
      teamId,
      repositoryId: repo.id,
    }),
    recordAuditIfChanged(ctx, {
      kind: "team.repository_removed",
      ownerId: orgId,
      repoId: repo.id,
      target: team.name,
    }),
    deleteLostWatches(ctx.db, { orgId, userIds: teamMemberIds(teamId), repoId: repo.id }),
    ...loseAssignments(ctx, { ownerId: orgId, userIds: teamMemberIds(teamId), repo }),
  ]);
}
