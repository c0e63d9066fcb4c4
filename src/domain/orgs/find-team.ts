import { selectTeam } from "../../auth/access/teams.ts";
import type { Ctx } from "../../context.ts";
import type { Team, User } from "../../db/schema/index.ts";
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
  const [row] = await selectTeam(ctx.db, id, ctx.actor.user?.id);
  if (!row) throw notFound();
  const isHidden = ctx.actor.scopes.isPublicOnly && row.org.visibility !== "public";
  const { isSiteAdmin } = ctx.actor;
  if (isHidden || !(row.isInOrg || isSiteAdmin)) throw notFound();
  if (!row.isInTeam && !row.isOwner && !isSiteAdmin) throw forbidden("Must be a team member");
  return { team: row.team, org: row.org, isManaged: row.isOwner || isSiteAdmin };
}
