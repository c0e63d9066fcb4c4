import { deleteLostAssignments } from "../../../auth/access/lost-assignments.ts";
import { deleteLostWatches, updateTeam } from "../../../auth/access/team-changes.ts";
import { teamMemberIds } from "../../../auth/access/teams.ts";
import type { Ctx } from "../../../context.ts";
import { ACCESS, type Team } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { defined } from "../../../lib/defined.ts";
import { differing } from "../../../lib/differing.ts";
import { invalidField, notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../audit/record-audit.ts";
import { asNameTaken, type NewTeam } from "./create-team.ts";
import { changeGrants, checkTeamName } from "./team-options.ts";

/**
 * Edits a team; missing properties keep their value. `includesAllRepositories` changes only
 * together with a permission, as in Gitea. Unchanged values record no event.
 *
 * Of the team of owners only the description changes.
 *
 * @throws Failure `invalid` as for a new team, and for another name of the team of owners.
 */
export async function editTeam(ctx: Ctx, team: Team, input: Partial<NewTeam>): Promise<Team> {
  const edit = differing(
    team,
    team.access === ACCESS.owner ? ofOwners(team, input) : columnsFrom(team, input),
  );
  if (Object.keys(edit).length === 0) return team;
  const losesAccess =
    edit.access !== undefined ||
    edit.units !== undefined ||
    edit.includesAllRepositories !== undefined;
  const { orgId, id: teamId } = team;
  const userIds = teamMemberIds(teamId);
  const changed = Object.keys(edit)
    .filter((name) => name !== "lowerName")
    .toSorted();
  try {
    const [updated] = await ctx.db.batch([
      updateTeam(ctx.db, team, edit),
      recordIfChanged(ctx, { type: "team.edited", ownerId: orgId, teamId, changed }),
      recordAuditIfChanged(ctx, {
        kind: "team.edited",
        ownerId: orgId,
        target: team.name,
        details: { changed },
      }),
      ...(losesAccess
        ? [
            deleteLostWatches(ctx.db, { orgId, userIds }),
            deleteLostAssignments(ctx.db, { ownerId: orgId, userIds }),
          ]
        : []),
    ]);
    const [row] = updated;
    if (!row) throw notFound();
    return row;
  } catch (error) {
    throw asNameTaken(error, orgId, input.name ?? team.name);
  }
}

type Columns = Partial<
  Pick<
    Team,
    | "name"
    | "lowerName"
    | "description"
    | "access"
    | "units"
    | "includesAllRepositories"
    | "canCreateOrgRepo"
  >
>;

function columnsFrom(team: Team, input: Partial<NewTeam>): Columns {
  const { name, description, canCreateOrgRepo } = input;
  if (name !== undefined) checkTeamName(name);
  const { access, units } = changeGrants(team, input);
  return defined({
    name,
    lowerName: name?.toLowerCase(),
    description,
    access,
    units,
    canCreateOrgRepo,
    includesAllRepositories:
      input.permission === undefined ? undefined : input.includesAllRepositories,
  });
}

function ofOwners(team: Team, { name, description }: Partial<NewTeam>): Columns {
  // SECURITY: another team could take the name, and be taken for the owners.
  if (name !== undefined && name !== team.name) {
    throw invalidField("name", `must be ${team.name}: the team of owners can't be renamed`);
  }
  return defined({ description });
}
