import { insertTeam } from "../../../auth/access/team-changes.ts";
import { idOfTeam } from "../../../auth/access/teams.ts";
import type { Ctx } from "../../../context.ts";
import { isViolation } from "../../../db/db.ts";
import type { Team, User } from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { invalid } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { checkTeamName, readGrants, type TeamGrantOptions } from "./team-options.ts";

/** The input for a new team. */
export interface NewTeam extends TeamGrantOptions {
  name: string;
  description?: string | undefined;
  includesAllRepositories?: boolean | undefined;
  canCreateOrgRepo?: boolean | undefined;
}

/**
 * Creates a team without members. Its creator does not join it.
 *
 * @throws Failure `invalid` for an invalid name, a name that is taken, and a team without units.
 */
export async function createTeam(ctx: Ctx, org: User, input: NewTeam): Promise<Team> {
  const { name } = input;
  checkTeamName(name);
  const row = {
    ...readGrants(input),
    orgId: org.id,
    name,
    lowerName: name.toLowerCase(),
    description: input.description ?? "",
    includesAllRepositories: input.includesAllRepositories ?? false,
    canCreateOrgRepo: input.canCreateOrgRepo ?? false,
    createdAt: ctx.now,
  };
  try {
    const [created] = await ctx.db.batch([
      insertTeam(ctx.db, row),
      record(ctx, { type: "team.created", ownerId: org.id, teamId: idOfTeam(org.id, name), name }),
      recordAudit(ctx, {
        kind: "team.created",
        ownerId: org.id,
        target: name,
        details: { permission: input.permission ?? "" },
      }),
    ]);
    return only(created);
  } catch (error) {
    throw asNameTaken(error, org.id, name);
  }
}

/** A violation of the unique index of team names as a refusal; any other error as it is. */
export const asNameTaken = (error: unknown, orgId: number, name: string): unknown =>
  isViolation(error, "UNIQUE", "teams.org_id")
    ? invalid(`team already exists [org_id: ${orgId}, name: ${name}]`)
    : error;
