import { eq, type SQL } from "drizzle-orm";

import {
  isOwnersTeam,
  isOwnTeam,
  isTeamMatching,
  isTeamOf,
  isTeamOfRepository,
  selectTeamPage,
} from "../../auth/access/teams.ts";
import type { Ctx } from "../../context.ts";
import { allOf } from "../../db/db.ts";
import { users, type Repository, type Team, type User } from "../../db/schema/index.ts";
import type { Listed, Slice } from "../slice.ts";

/** A team with its organization. */
export interface TeamOfOrganization {
  team: Team;
  org: User;
}

/** Lists the teams of an organization by name. */
export const listTeams = (ctx: Ctx, org: User, slice: Slice) =>
  listWhere(ctx, isTeamOf(org.id), slice);

/** Lists the teams that reach a repository: the owners, then the others by name. */
export const listTeamsOfRepository = (ctx: Ctx, repo: Repository, slice: Slice) =>
  listWhere(ctx, isTeamOfRepository(repo), slice, isOwnersTeam);

/** Lists a user's teams by name; with a token for public resources, those of public organizations. */
export const listOwnTeams = (ctx: Ctx, user: User, slice: Slice) =>
  listWhere(
    ctx,
    allOf(
      isOwnTeam(user.id),
      ctx.actor.scopes.isPublicOnly ? eq(users.visibility, "public") : undefined,
    ),
    slice,
  );

/**
 * Lists the teams of an organization whose name contains a text, by name: the caller's own teams, as in Gitea, and all
 * for administrators of the site.
 *
 * @param includesDescription Whether to search descriptions too.
 */
export const searchTeams = (
  ctx: Ctx,
  org: User,
  { text, includesDescription }: { text: string; includesDescription: boolean },
  slice: Slice,
) => {
  const { user, isSiteAdmin } = ctx.actor;
  return listWhere(
    ctx,
    allOf(
      isTeamOf(org.id),
      isSiteAdmin ? undefined : isOwnTeam(user?.id ?? 0),
      text === "" ? undefined : isTeamMatching(text, includesDescription),
    ),
    slice,
  );
};

async function listWhere(
  ctx: Ctx,
  isListed: SQL,
  slice: Slice,
  isFirst?: SQL,
): Promise<Listed<TeamOfOrganization>> {
  const [items, [counted]] = await ctx.db.batch(selectTeamPage(ctx.db, isListed, slice, isFirst));
  return { items, total: counted?.total ?? 0 };
}
