import {
  ACCESS,
  everyUnit,
  OWNER_PERMISSION,
  UNITS,
  type Access,
  type Repository,
  type RepositoryPermission,
  type Unit,
  type UnitModes,
} from "../../db/schema/index.ts";
import type { Actor } from "../actor.ts";
import { isWithinReach } from "./credential-reach.ts";
import type { AccessFacts, TeamGrant } from "./facts.ts";
import type { Requirement } from "./requirement.ts";
import { isUnitOn } from "./unit-switches.ts";

/** A repository with what somebody was granted there. */
export interface Permitted {
  readonly row: Repository;
  readonly permission: RepositoryPermission;
}

/**
 * What the caller is granted in a repository; a mode of `none` where it does not exist for them.
 *
 * A credential narrows what its user has, and never widens it.
 */
export function resolvePermission(
  actor: Actor,
  repo: Repository,
  facts: AccessFacts,
): RepositoryPermission {
  if (!isWithinReach(actor, repo, facts)) return NO_PERMISSION;
  if (actor.isSiteAdmin || repo.ownerId === actor.user?.id) return OWNER_PERMISSION;
  const floor = isOpenTo(actor, repo, facts) ? ACCESS.read : ACCESS.none;
  const everywhere = Math.max(floor, actor.user ? facts.collaboratorAccess : ACCESS.none);
  const granted = actor.user ? facts.teamGrants : [];
  const most = (ofTeam: (grant: TeamGrant) => Access): Access =>
    Math.max(everywhere, ...granted.map(ofTeam)) as Access;
  const units = UNITS.map((unit) => [unit, most((grant) => unitMode(grant, unit))]);
  return { mode: most(ownMode), units: Object.fromEntries(units) as UnitModes };
}

const NO_PERMISSION: RepositoryPermission = {
  mode: ACCESS.none,
  units: everyUnit(ACCESS.none),
};

/** Teams of administrators and owners give their mode everywhere; of others each unit decides. */
const unitMode = ({ access, units }: TeamGrant, unit: Unit): Access =>
  access >= ACCESS.admin ? access : (units[unit] ?? ACCESS.none);

/** What a team gives in the repository itself: those who have any unit see it. */
function ownMode({ access, units }: TeamGrant): Access {
  if (access >= ACCESS.admin) return access;
  return Object.values(units).some((mode) => mode > ACCESS.none) ? ACCESS.read : ACCESS.none;
}

/** Whether the caller may read without having been granted anything here. */
function isOpenTo(actor: Actor, repo: Repository, facts: AccessFacts): boolean {
  const isOpenToMember = !repo.isPrivate && facts.isOrganizationMember;
  // Restricted users see what they were granted, nothing else.
  if (actor.user?.isRestricted) return isOpenToMember;
  if (repo.visibility === "public") return true;
  if (repo.visibility === "limited") return actor.user !== undefined;
  return isOpenToMember;
}

/** The mode that a permission has in a unit, or in the repository itself; `none` in a unit that is off. */
export function modeOf({ row, permission }: Permitted, unit: Unit | undefined): Access {
  if (unit === undefined) return permission.mode;
  return isUnitOn(row, unit) ? permission.units[unit] : ACCESS.none;
}

/** Whether a permission is enough. */
export const isAllowed = (permitted: Permitted, { unit, mode }: Requirement): boolean =>
  modeOf(permitted, unit) >= ACCESS[mode];
