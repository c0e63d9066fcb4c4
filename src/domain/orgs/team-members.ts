import { and, eq, ne, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import {
  ACCESS,
  organizationMembers,
  teamMembers,
  teams,
  type Team,
  type User,
} from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { forbidden } from "../../lib/failure.ts";

/** Adds a user to a team, and so to its organization; doing so again changes nothing. */
export async function addTeamMember(ctx: Ctx, team: Team, user: User): Promise<void> {
  await ctx.db.batch([
    ctx.db
      .insert(organizationMembers)
      .values({ orgId: team.orgId, userId: user.id })
      .onConflictDoNothing(),
    ctx.db.insert(teamMembers).values({ teamId: team.id, userId: user.id }).onConflictDoNothing(),
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
  const isThis = and(eq(teamMembers.teamId, team.id), eq(teamMembers.userId, user.id));
  const isLastOwner = sql`
    (select ${teams.access} = ${ACCESS.owner} from ${teams} where ${teams.id} = ${team.id})
    and (select count(*) from team_members others where others.team_id = ${team.id}) = 1`;
  const [removed] = await ctx.db.batch([
    // Part of the statement, so that the last two owners can't leave at once.
    ctx.db
      .delete(teamMembers)
      .where(and(isThis, sql`not (${isLastOwner})`))
      .returning(),
    recordIfChanged(ctx, {
      type: "organization.member_removed",
      ownerId: team.orgId,
      userId: user.id,
      teamId: team.id,
    }),
    ctx.db.delete(organizationMembers).where(
      and(
        eq(organizationMembers.orgId, team.orgId),
        eq(organizationMembers.userId, user.id),
        sql`not exists (
          select 1
          from ${teamMembers}
          join ${teams} on ${teams.id} = ${teamMembers.teamId}
          where ${teams.orgId} = ${team.orgId} and ${teamMembers.userId} = ${user.id}
        )`,
      ),
    ),
  ]);
  if (removed.length === 0 && (await isMember(ctx, team, user))) {
    throw forbidden("the last owner of an organization can't be removed");
  }
}

async function isMember(ctx: Ctx, team: Team, user: User): Promise<boolean> {
  const rows = await ctx.db
    .select({ teamId: teamMembers.teamId })
    .from(teamMembers)
    .where(and(eq(teamMembers.teamId, team.id), eq(teamMembers.userId, user.id)));
  return rows.length > 0;
}

/** Says whether outsiders see that the user belongs to the organization; saying so again changes nothing. */
export async function setMembershipVisibility(
  ctx: Ctx,
  org: User,
  user: User,
  isPublic: boolean,
): Promise<void> {
  await ctx.db.batch([
    ctx.db
      .update(organizationMembers)
      .set({ isPublic })
      .where(
        and(
          eq(organizationMembers.orgId, org.id),
          eq(organizationMembers.userId, user.id),
          ne(organizationMembers.isPublic, isPublic),
        ),
      ),
    recordIfChanged(ctx, {
      type: "organization.member_visibility_changed",
      ownerId: org.id,
      isPublic,
    }),
  ]);
}
