import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { columnsOf, flagColumn } from "../../db/db.ts";
import {
  ACCESS,
  organizationMembers,
  teamMembers,
  teams,
  users,
  type Team,
  type User,
} from "../../db/schema/index.ts";
import { forbidden, notFound } from "../../lib/failure.ts";

/** A team with its organization. */
export interface TeamEntry {
  team: Team;
  org: User;
  /** Whether the caller may change who is in it. */
  isManaged: boolean;
}

/**
 * The team of an id, for its members and for the organization's owners.
 *
 * @throws Failure `not_found` for everybody outside the organization, `forbidden` for its other members.
 */
export async function findTeam(ctx: Ctx, id: number): Promise<TeamEntry> {
  const userId = ctx.actor.user?.id ?? null;
  const [row] = await ctx.db
    .select({
      team: columnsOf(teams, "t"),
      org: columnsOf(users, "o"),
      isInOrg: flagColumn(
        sql`exists (
          select 1
          from ${organizationMembers}
          where ${organizationMembers.orgId} = ${teams.orgId}
            and ${organizationMembers.userId} = ${userId}
        )`,
        "is_in_org",
      ),
      isInTeam: flagColumn(
        sql`exists (
          select 1
          from ${teamMembers}
          where ${teamMembers.teamId} = ${teams.id} and ${teamMembers.userId} = ${userId}
        )`,
        "is_in_team",
      ),
      isOwner: flagColumn(
        sql`exists (
          select 1
          from ${teamMembers}
          join teams owners on owners.id = ${teamMembers.teamId}
          where owners.org_id = ${teams.orgId}
            and owners.access = ${ACCESS.owner}
            and ${teamMembers.userId} = ${userId}
        )`,
        "is_owner",
      ),
    })
    .from(teams)
    .innerJoin(users, eq(users.id, teams.orgId))
    .where(eq(teams.id, id));
  if (!row) throw notFound();
  const isHidden = ctx.actor.scopes.isPublicOnly && row.org.visibility !== "public";
  const { isSiteAdmin } = ctx.actor;
  if (isHidden || !(row.isInOrg || isSiteAdmin)) throw notFound();
  if (!row.isInTeam && !row.isOwner && !isSiteAdmin) throw forbidden("Must be a team member");
  return { team: row.team, org: row.org, isManaged: row.isOwner || isSiteAdmin };
}
