import { deleteMembersWithoutOtherTeam } from "../../auth/access/memberships.ts";
import { deleteLostWatches, deleteTeamRow } from "../../auth/access/team-changes.ts";
import { teamMemberIds } from "../../auth/access/teams.ts";
import type { Ctx } from "../../context.ts";
import { ACCESS, type Team } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { loseAssignments } from "../shards/lose-assignments.ts";

/**
 * Deletes a team. Members who are in no other team leave the organization, and watches end of repositories that nobody
 * but the team let them see.
 *
 * @throws Failure `forbidden` for the team of owners, `not_found` if another request has deleted it.
 */
export async function deleteTeam(ctx: Ctx, team: Team): Promise<void> {
  if (team.access === ACCESS.owner) throw forbidden("the team of owners can't be deleted");
  const { id: teamId, orgId, name } = team;
  const { directory } = ctx;
  const results = await directory.batch([
    deleteMembersWithoutOtherTeam(directory, team),
    deleteLostWatches(directory, { orgId, userIds: teamMemberIds(teamId), exceptTeamId: teamId }),
    ...loseAssignments(ctx, {
      ownerId: orgId,
      userIds: teamMemberIds(teamId),
      exceptTeamId: teamId,
    }),
    deleteTeamRow(directory, team),
    recordIfChanged(ctx, { type: "team.deleted", ownerId: orgId, teamId, name }),
    recordAuditIfChanged(ctx, { kind: "team.deleted", ownerId: orgId, target: name }),
  ]);
  const deleted = results.at(-3) as { id: number }[];
  if (deleted.length === 0) throw notFound();
}
