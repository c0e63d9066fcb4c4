import { idOfTeam, selectTeam } from "../../../auth/access/teams.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import type { Team, User } from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import type { TeamName } from "../accounts/list-accounts.ts";

/** A team with its organization, as the caller may see it. */
export interface TeamEntry {
  team: Team;
  org: User;
  /** Whether the caller may change the team, and add and remove members. */
  isManaged: boolean;
}

/**
 * Finds a team by id, for its members, the organization's owners and site administrators.
 *
 * @throws Failure `not_found` for callers outside the organization, `forbidden` for its other
 *   members.
 */
export async function findTeam(ctx: Ctx, id: number): Promise<TeamEntry> {
  const [row] = await teamById(ctx.db, { id, actorId: ctx.actor.user?.id });
  if (!row) throw notFound();
  const { isSiteAdmin } = ctx.actor;
  if (isHidden(ctx, row.org) || !(row.isInOrg || isSiteAdmin)) throw notFound();
  if (!row.isInTeam && !row.isOwner && !isSiteAdmin) throw forbidden("Must be a team member");
  return { team: row.team, org: row.org, isManaged: row.isOwner || isSiteAdmin };
}

/**
 * Finds a team by id, for the organization's owners and site administrators.
 *
 * @throws Failure `not_found` for anybody else, as in Gitea.
 */
export async function findManagedTeam(ctx: Ctx, id: number): Promise<TeamEntry> {
  const [row] = await teamById(ctx.db, { id, actorId: ctx.actor.user?.id });
  if (!row || isHidden(ctx, row.org)) throw notFound();
  if (!row.isOwner && !ctx.actor.isSiteAdmin) throw notFound();
  return { team: row.team, org: row.org, isManaged: true };
}

const teamById = prepare((db, p: Params<{ id: number; actorId: number | undefined }>) =>
  selectTeam(db, p.id, p.actorId),
);

/**
 * Finds a team by its name, for its members, the organization's owners and site administrators.
 *
 * @throws Failure `not_found` for anybody else.
 */
export async function findTeamNamed(ctx: Ctx, { orgId, name }: TeamName): Promise<Team> {
  const named = { orgId, name: name.toLowerCase(), actorId: ctx.actor.user?.id };
  const [row] = await teamByName(ctx.db, named);
  const isShown = row && (row.isInTeam || row.isOwner || ctx.actor.isSiteAdmin);
  if (!isShown || isHidden(ctx, row.org)) throw notFound();
  return row.team;
}

const teamByName = prepare((db, p: Params<TeamName & { actorId: number | undefined }>) =>
  selectTeam(db, idOfTeam(p.orgId, p.name), p.actorId),
);

/** Whether the caller's token is limited to public resources, which the organization is not. */
const isHidden = ({ actor }: Ctx, org: User): boolean =>
  actor.scopes.isPublicOnly && org.visibility !== "public";
