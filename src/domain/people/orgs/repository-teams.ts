import {
  selectMembershipForRepository,
  selectTeamForRepository,
} from "../../../auth/access/teams.ts";
import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import type { Team } from "../../../db/schema/index.ts";
import { forbidden, invalid, notApplicable, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Listed, Slice } from "../../slice.ts";
import { listReachingTeams, type TeamOfOrganization } from "./list-teams.ts";
import { addTeamRepository, removeTeamRepository } from "./team-repositories.ts";

// The teams of a repository, by name: the other direction of the repositories of a team.

/**
 * Lists the teams that reach a repository, for members of the organization and administrators of
 * the repository.
 *
 * @throws Failure `not_applicable` for a user's repository, `forbidden` for outsiders.
 */
export async function listRepositoryTeams(
  ctx: Ctx,
  repo: RepositoryContext,
  slice: Slice,
): Promise<Listed<TeamOfOrganization>> {
  requireOrganization(repo);
  const [listed, [roles]] = await Promise.all([
    listReachingTeams(ctx, repo.row, slice),
    membershipForRepository(ctx.db, rolesKey(ctx, repo)),
  ]);
  requireInsider(ctx, repo, roles);
  return listed;
}

/**
 * Finds a team by name that reaches a repository, as `listRepositoryTeams` lists it.
 *
 * @throws Failure as `listRepositoryTeams`; `not_found` for a team that does not reach it.
 */
export async function findRepositoryTeam(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
): Promise<Team> {
  const { found, roles } = await findByName(ctx, repo, name);
  requireInsider(ctx, repo, roles);
  if (!found?.isReaching) throw notFound();
  return found.team;
}

/**
 * Adds a team to a repository that the caller administers.
 *
 * @throws Failure `not_applicable` for a user's repository, `forbidden` where only owners may
 * change its teams, `not_found` for an unknown team, `invalid` for one that has the repository
 * already.
 */
export async function addRepositoryTeam(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
): Promise<void> {
  const { team, isReaching } = await findChangeable(ctx, repo, name);
  if (isReaching) throw invalid(`team '${team.name}' is already added to repo`);
  await addTeamRepository(ctx, team, repo.row);
}

/**
 * Removes a team from a repository that the caller administers.
 *
 * @throws Failure as `addRepositoryTeam`; `invalid` for a team that does not have it, and for one
 *   that has all.
 */
export async function removeRepositoryTeam(
  ctx: Ctx,
  repo: RepositoryContext,
  name: string,
): Promise<void> {
  const { team, isReaching } = await findChangeable(ctx, repo, name);
  if (!isReaching) throw invalid(`team '${team.name}' was not added to repo`);
  if (team.includesAllRepositories) {
    throw invalid(`team '${team.name}' has all repositories of the organization`);
  }
  await removeTeamRepository(ctx, team, repo.row);
}

interface Roles {
  isMember: boolean;
}

async function findChangeable(ctx: Ctx, repo: RepositoryContext, name: string) {
  const { found } = await findByName(ctx, repo, name);
  const isOwner = isAllowed(repo, { mode: "owner" });
  // Collaborators who administer the repository may change its teams only if the organization
  // allows it.
  if (!isOwner && !repo.owner.canRepoAdminChangeTeamAccess) {
    throw forbidden("user is nor repo admin nor owner");
  }
  if (!found) throw notFound();
  return found;
}

async function findByName(ctx: Ctx, repo: RepositoryContext, name: string) {
  requireOrganization(repo);
  const { id, ownerId } = repo.row;
  const { teams, roles } = await batch(ctx.db, {
    teams: teamForRepository(ctx.db, { repo: { id, ownerId }, name: name.toLowerCase() }),
    roles: membershipForRepository(ctx.db, rolesKey(ctx, repo)),
  });
  return { found: teams[0], roles: roles[0] };
}

const teamForRepository = prepare(
  (db, p: Params<{ repo: { id: number; ownerId: number }; name: string }>) =>
    selectTeamForRepository(db, p.repo, p.name),
);

const rolesKey = ({ actor }: Ctx, { row }: RepositoryContext) => ({
  ownerId: row.ownerId,
  actorId: actor.user?.id,
});

const membershipForRepository = prepare(
  (db, p: Params<{ ownerId: number; actorId: number | undefined }>) =>
    selectMembershipForRepository(db, p, p.actorId),
);

function requireOrganization({ owner }: RepositoryContext): void {
  if (owner.kind !== "organization") throw notApplicable("repo is not owned by an organization");
}

/** SECURITY: readers from outside the organization learn nothing of its teams. */
function requireInsider(ctx: Ctx, repo: RepositoryContext, roles: Roles | undefined): void {
  const isInside = roles?.isMember === true || ctx.actor.isSiteAdmin;
  if (!isInside && !isAllowed(repo, { mode: "admin" })) {
    throw forbidden("Must be an organization member");
  }
}
