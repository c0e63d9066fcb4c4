import { sql } from "drizzle-orm";

import { isBlockedBy, unlessBlocked } from "../../../auth/access/blocks.ts";
import {
  asBlockedMember,
  deleteMemberWithoutTeam,
  deleteTeamMember,
  deleteTeamMemberships,
  insertMember,
  insertTeamMember,
  selectMember,
  selectTeamMember,
  updateMembershipVisibility,
} from "../../../auth/access/memberships.ts";
import { deleteLostAssignments } from "../../../auth/access/lost-assignments.ts";
import { deleteLostWatches, insertWatchesOfMember } from "../../../auth/access/team-changes.ts";
import { isInTeam } from "../../../auth/access/teams.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation } from "../../../db/db.ts";
import type { Team, User } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged, recordAuditWhere } from "../audit/record-audit.ts";

/**
 * Adds a user to a team and to its organization; the user watches the team's repositories from then
 * on. Idempotent.
 *
 * @throws Failure `not_found` for an organization, and if another request has deleted the team or
 * the user; `forbidden` where the organization blocks the user.
 */
export async function addTeamMember(ctx: Ctx, team: Team, user: User): Promise<void> {
  if (user.kind !== "user") throw notFound();
  try {
    await ctx.db.batch([
      recordAuditWhere(
        ctx,
        { kind: "team.member_added", ownerId: team.orgId, userId: user.id, target: team.name },
        sql`not ${isInTeam(team.id, user.id)}`,
      ),
      insertMember(ctx.db, team.orgId, user.id),
      insertTeamMember(
        ctx.db,
        team.id,
        unlessBlocked(isBlockedBy(sql`${user.id}`, sql`${team.orgId}`), user.id),
      ),
      recordIfChanged(ctx, {
        type: "organization.member_added",
        ownerId: team.orgId,
        userId: user.id,
        teamId: team.id,
      }),
      insertWatchesOfMember(ctx.db, user.id, {
        team,
        now: ctx.now,
        // Only if the statement before, which records the addition, recorded one.
        isOn: sql`(${ctx.config.isAutoWatchOn} and changes() > 0)`,
      }),
    ]);
  } catch (error) {
    if (isViolation(error, "FOREIGN KEY")) throw notFound();
    throw asBlockedMember(error);
  }
}

/**
 * Removes a user from a team, and from the organization if it was the user's last team there. The
 * user stops watching repositories that they may not see any more, and is assigned to none of their
 * issues.
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
    deleteLostWatches(ctx.db, { orgId: team.orgId, userIds: sql`(${user.id})` }),
    deleteLostAssignments(ctx.db, { ownerId: team.orgId, userIds: sql`(${user.id})` }),
  ]);
  if (removed.length > 0) return;
  const [remaining] = await selectTeamMember(ctx.db, team, user.id);
  if (remaining) throw forbidden(LAST_OWNER);
}

const LAST_OWNER = "the last owner of an organization can't be removed";

/**
 * Removes a user from an organization and all of its teams. Idempotent.
 *
 * @throws Failure `forbidden` for the last owner.
 */
export async function removeMember(ctx: Ctx, org: User, user: User): Promise<void> {
  const { removed } = await batch(ctx.db, {
    teams: deleteTeamMemberships(ctx.db, org.id, user.id),
    removed: deleteMemberWithoutTeam(ctx.db, org.id, user.id),
    event: recordIfChanged(ctx, {
      type: "organization.member_removed",
      ownerId: org.id,
      userId: user.id,
      teamId: null,
    }),
    audit: recordAuditIfChanged(ctx, {
      kind: "organization.member_removed",
      ownerId: org.id,
      userId: user.id,
    }),
    watches: deleteLostWatches(ctx.db, { orgId: org.id, userIds: sql`(${user.id})` }),
    assignments: deleteLostAssignments(ctx.db, { ownerId: org.id, userIds: sql`(${user.id})` }),
  });
  if (removed.length > 0) return;
  const [remaining] = await selectMember(ctx.db, org.id, user.id);
  if (remaining) throw forbidden(LAST_OWNER);
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
