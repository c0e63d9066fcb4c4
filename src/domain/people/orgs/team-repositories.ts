import { sql } from "drizzle-orm";

import { deleteLostAssignments } from "../../../auth/access/lost-assignments.ts";
import {
  canJoinTeam,
  deleteLostWatches,
  deleteTeamRepository,
  insertTeamRepository,
  insertWatchesOfRepository,
} from "../../../auth/access/team-changes.ts";
import { teamMemberIds } from "../../../auth/access/teams.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import type { Repository, Team } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged, recordAuditWhere } from "../audit/record-audit.ts";

/**
 * Adds a repository of the organization to a team, whose members watch it from then on. Idempotent;
 * a team with all repositories has it already.
 *
 * @throws Failure `not_found` if another request has deleted the team.
 */
export async function addTeamRepository(ctx: Ctx, team: Team, repo: Repository): Promise<void> {
  if (team.includesAllRepositories) return;
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
 * Removes a repository from a team. Idempotent; without effect for a team with all repositories.
 * Members who may not see it any more do not watch it any more.
 */
export async function removeTeamRepository(ctx: Ctx, team: Team, repo: Repository): Promise<void> {
  if (team.includesAllRepositories) return;
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
    deleteLostAssignments(ctx.db, {
      ownerId: orgId,
      userIds: teamMemberIds(teamId),
      repoId: repo.id,
    }),
  ]);
}
