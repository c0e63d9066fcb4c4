import {
  deleteMemberWithoutTeam,
  deleteTeamMember,
  insertMember,
  insertTeamMember,
  selectTeamMember,
  updateMembershipVisibility,
} from "../../auth/access/memberships.ts";
import type { Ctx } from "../../context.ts";
import type { Team, User } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { forbidden } from "../../lib/failure.ts";

/** Adds a user to a team, and so to its organization; doing so again changes nothing. */
export async function addTeamMember(ctx: Ctx, team: Team, user: User): Promise<void> {
  await ctx.db.batch([
    insertMember(ctx.db, team.orgId, user.id),
    insertTeamMember(ctx.db, team.id, user.id),
    recordIfChanged(ctx, {
      type: "organization.member_added",
      ownerId: team.orgId,
      userId: user.id,
      teamId: team.id,
    }),
  ]);
}

/**
 * Removes a user from a team, and from its organization with the last team.
 *
 * @throws Failure `forbidden` for the last owner: an organization always has one.
 */
export async function removeTeamMember(ctx: Ctx, team: Team, user: User): Promise<void> {
  const [removed] = await ctx.db.batch([
    deleteTeamMember(ctx.db, team, user.id),
    recordIfChanged(ctx, {
      type: "organization.member_removed",
      ownerId: team.orgId,
      userId: user.id,
      teamId: team.id,
    }),
    deleteMemberWithoutTeam(ctx.db, team.orgId, user.id),
  ]);
  if (removed.length > 0) return;
  const [kept] = await selectTeamMember(ctx.db, team, user.id);
  if (kept) throw forbidden("the last owner of an organization can't be removed");
}

/** Says whether outsiders see that the user belongs to the organization; saying so again changes nothing. */
export async function setMembershipVisibility(
  ctx: Ctx,
  org: User,
  user: User,
  isPublic: boolean,
): Promise<void> {
  await ctx.db.batch([
    updateMembershipVisibility(ctx.db, org.id, user.id, isPublic),
    recordIfChanged(ctx, {
      type: "organization.member_visibility_changed",
      ownerId: org.id,
      isPublic,
    }),
  ]);
}
