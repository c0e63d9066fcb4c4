import { z } from "@hono/zod-openapi";

import {
  ACCESS,
  everyUnit,
  UNITS,
  type Team as TeamRow,
  type User as UserRow,
} from "../../db/schema/index.ts";
import { Int64 } from "../json.ts";
import { Organization, toOrganization } from "./organization.ts";
import type { Viewer } from "../viewer.ts";

const UNIT_NAMES = UNITS.map((unit) => `repo.${unit}` as const);

const PERMISSIONS = ["none", "read", "write", "admin", "owner"] as const;

export const Team = z
  .object({
    id: Int64,
    name: z.string(),
    description: z.string(),
    organization: Organization.nullable(),
    includes_all_repositories: z.boolean(),
    can_create_org_repo: z.boolean(),
    permission: z.enum(PERMISSIONS),
    units: z.array(z.enum(UNIT_NAMES)),
    units_map: z.record(z.string(), z.enum(PERMISSIONS)),
  })
  .openapi("Team");

export const TeamSearchResults = z
  .object({ ok: z.boolean(), data: z.array(Team) })
  .openapi("TeamSearchResults");

/** Formats a team, with its organization if `org` is not null. */
export function toTeam(team: TeamRow, org: UserRow | null, viewer: Viewer): z.infer<typeof Team> {
  // Admin and owner teams grant their mode on every unit, regardless of the stored units.
  const modes = team.access >= ACCESS.admin ? everyUnit(team.access) : team.units;
  const granted = UNITS.filter((unit) => modes[unit] !== undefined);
  return {
    id: team.id,
    name: team.name,
    description: team.description,
    organization: org && toOrganization(org, viewer),
    includes_all_repositories: team.includesAllRepositories,
    can_create_org_repo: team.canCreateOrgRepo,
    permission: PERMISSIONS[team.access],
    units: granted.map((unit) => `repo.${unit}` as const),
    units_map: Object.fromEntries(
      granted.map((unit) => [`repo.${unit}`, PERMISSIONS[modes[unit] ?? ACCESS.none]]),
    ),
  };
}
