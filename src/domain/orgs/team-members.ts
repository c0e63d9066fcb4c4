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
import { recordAuditIfChanged } from "../audit/record-audit.ts";

/** Adds a user to a team and to its organization. Idempotent. */
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
    recordAuditIfChanged(ctx, {
      kind: "team.member_added",
      ownerId: team.orgId,
      userId: user.id,
      target: team.name,
    }),
  ]);
}

/**
 * Removes a user from a team, and from the organization if it was the user's last team there.
 *
 * @throws Failure `forbidden` for the last owner: an organization always has an owner.
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
    recordAuditIfChanged(ctx, {
      kind: "team.member_removed",
      ownerId: team.orgId,
      userId: user.id,
      target: team.name,
    }),
    deleteMemberWithoutTeam(ctx.db, team.orgId, user.id),
  ]);
  if (removed.length > 0) return;
  const [remaining] = await selectTeamMember(ctx.db, team, user.id);
  if (remaining) throw forbidden("the last owner of an organization can't be removed");
}

/** Sets whether people outside the organization see the user's membership. Idempotent. */
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
    recordAuditIfChanged(ctx, {
      kind: "organization.member_visibility_changed",
      ownerId: org.id,
      userId: user.id,
      details: { isPublic },
    }),
  ]);
}
