import { deleteMembersWithoutOtherTeam } from "../../../auth/access/memberships.ts";
import { deleteLostAssignments } from "../../../auth/access/lost-assignments.ts";
import { deleteLostWatches, deleteTeamRow } from "../../../auth/access/team-changes.ts";
import { teamMemberIds } from "../../../auth/access/teams.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { ACCESS, type Team } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";

/**
 * Deletes a team. Members who are in no other team leave the organization, and watches end of
 * repositories that nobody but the team let them see.
 *
 * @throws Failure `forbidden` for the team of owners, `not_found` if another request has deleted
 *   it.
 */
export async function deleteTeam(ctx: Ctx, team: Team): Promise<void> {
  if (team.access === ACCESS.owner) throw forbidden("the team of owners can't be deleted");
  const { id: teamId, orgId, name } = team;
  const lost = { userIds: teamMemberIds(teamId), exceptTeamId: teamId };
  const { deleted } = await batch(ctx.db, {
    members: deleteMembersWithoutOtherTeam(ctx.db, team),
    watches: deleteLostWatches(ctx.db, { orgId, ...lost }),
    assignments: deleteLostAssignments(ctx.db, { ownerId: orgId, ...lost }),
    deleted: deleteTeamRow(ctx.db, team),
    event: recordIfChanged(ctx, { type: "team.deleted", ownerId: orgId, teamId, name }),
    audit: recordAuditIfChanged(ctx, { kind: "team.deleted", ownerId: orgId, target: name }),
  });
  if (deleted.length === 0) throw notFound();
}
