import { eq } from "drizzle-orm";

import {
  isOwnersTeam,
  isOwnTeam,
  isTeamMatching,
  isTeamOf,
  isTeamOfRepository,
  selectTeamPage,
} from "../../../auth/access/teams.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { users, type Repository, type Team, type User } from "../../../db/schema/index.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";

/** A team with its organization. */
export interface TeamOfOrganization {
  team: Team;
  org: User;
}

/** Lists the teams of an organization by name. */
export const listTeams = (ctx: Ctx, org: User, slice: Slice) => list(ctx, { orgId: org.id }, slice);

/** Lists the teams that reach a repository: the owners, then the others by name. */
export const listReachingTeams = (
  ctx: Ctx,
  { id, ownerId }: Pick<Repository, "id" | "ownerId">,
  slice: Slice,
) => list(ctx, { repo: { id, ownerId } }, slice);

/**
 * Lists a user's teams by name; with a token for public resources, those of public organizations.
 */
export const listOwnTeams = (ctx: Ctx, user: User, slice: Slice) =>
  list(ctx, { memberId: user.id, isPublicOnly: ctx.actor.scopes.isPublicOnly }, slice);

/**
 * Lists the teams of an organization whose name contains a text, by name: the caller's own teams,
 * as in Gitea, and all for administrators of the site.
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
  const search = text === "" ? undefined : { text: text.toLowerCase(), includesDescription };
  const memberId = isSiteAdmin ? undefined : (user?.id ?? 0);
  return list(ctx, { orgId: org.id, memberId, search }, slice);
};

/** Which teams are listed; what is absent does not restrict the list. */
interface TeamFilter {
  readonly orgId?: number;
  readonly repo?: { readonly id: number; readonly ownerId: number };
  readonly memberId?: number | undefined;
  /** Whether only teams of public organizations are listed. */
  readonly isPublicOnly?: boolean;
  /** The text is in lower case. */
  readonly search?: { readonly text: string; readonly includesDescription: boolean } | undefined;
}

async function list(
  { db }: Ctx,
  filter: TeamFilter,
  { size, offset }: Slice,
): Promise<Listed<TeamOfOrganization>> {
  return toListedPage(await batch(db, teamPage(db, { ...filter, size, offset })));
}

const teamPage = prepareAll((db, p: Params<TeamFilter & Slice>) =>
  selectTeamPage(
    db,
    allOf(
      p.orgId && isTeamOf(p.orgId),
      p.repo && isTeamOfRepository(p.repo),
      p.memberId && isOwnTeam(p.memberId),
      p.isPublicOnly ? eq(users.visibility, "public") : undefined,
      p.search && isTeamMatching(p.search.text, p.search.includesDescription),
    ),
    p,
    p.repo && isOwnersTeam,
  ),
);
