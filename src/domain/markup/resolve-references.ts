import { and, sql } from "drizzle-orm";

import { isAccountVisible } from "../../auth/access/accounts.ts";
import { selectTeamNames } from "../../auth/access/teams.ts";
import { seesPublicOnly } from "../../auth/actor.ts";
import type { Ctx } from "../../context.ts";
import { users } from "../../db/schema/index.ts";
import type { KnownReferences, References, TeamReference } from "../../render/references.ts";

/**
 * Resolves the references in a text to accounts and teams visible to the caller, in one round trip.
 *
 * Teams are visible to the members of their organization, but not to tokens limited to public resources. Issues
 * and commits are not resolved yet.
 */
export async function resolveReferences(ctx: Ctx, found: References): Promise<KnownReferences> {
  const names = [...found.users, ...found.teams.map(({ org }) => org)];
  const isNamed = sql`${users.lowerName} in (
    select lower(value) from json_each(${JSON.stringify(names)})
  )`;
  const userId = (seesPublicOnly(ctx.actor) ? undefined : ctx.actor.user?.id) ?? null;
  const [accounts, memberTeams] = await ctx.db.batch([
    ctx.db
      .select({ lowerName: users.lowerName })
      .from(users)
      .where(and(isNamed, isAccountVisible(ctx.actor))),
    selectTeamNames(ctx.db, isNamed, userId),
  ]);
  const known = new Set(accounts.map(({ lowerName }) => lowerName));
  const knownTeams = new Set(memberTeams.map(({ org, team }) => `${org}/${team}`));
  const isKnownTeam = ({ org, team }: TeamReference) =>
    knownTeams.has(`${org}/${team}`.toLowerCase());
  return {
    users: new Set(found.users.filter((name) => known.has(name.toLowerCase()))),
    teams: new Set(found.teams.filter(isKnownTeam)),
    issues: new Map(),
    commits: new Map(),
  };
}
