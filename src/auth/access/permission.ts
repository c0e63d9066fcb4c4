import {
  ACCESS,
  everyUnit,
  OWNER_PERMISSION,
  UNITS,
  type Access,
  type Mode,
  type Repository,
  type RepositoryPermission,
  type Unit,
  type UnitModes,
} from "../../db/schema/index.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import { type Actor, isOfJob } from "../actor.ts";
import { isWithinReach } from "./credential-reach.ts";
import type { AccessFacts, TeamGrant } from "./facts.ts";
import type { Requirement } from "./requirement.ts";
import { isUnitOn } from "./unit-switches.ts";

/** A repository with a caller's permission in it. */
export interface Permitted {
  readonly row: Repository;
  readonly permission: RepositoryPermission;
}

/**
 * Resolves the caller's permission in a repository; its mode is `none` where the caller may not see
 * the repository.
 *
 * A credential narrows its user's permission and never widens it.
 */
export function resolvePermission(
  actor: Actor,
  repo: Repository,
  facts: AccessFacts,
): RepositoryPermission {
  if (!isWithinReach(actor, repo, facts)) {
    return isOfJob(actor) && repo.visibility === "public" ? READ_CODE_ONLY : NO_PERMISSION;
  }
  if (actor.isSiteAdmin || repo.ownerId === actor.user?.id) return OWNER_PERMISSION;
  const floor = isReadableWithoutGrant(actor, repo, facts) ? ACCESS.read : ACCESS.none;
  const offered = facts.pendingTransferTo === "caller" ? ACCESS.read : ACCESS.none;
  const granted = Math.max(facts.collaboratorAccess, offered);
  const least = Math.max(floor, actor.user ? granted : ACCESS.none);
  const grants = actor.user ? facts.teamGrants : [];
  const most = (ofTeam: (grant: TeamGrant) => Access): Access =>
    Math.max(least, ...grants.map(ofTeam)) as Access;
  const units = UNITS.map((unit) => [unit, most((grant) => unitMode(grant, unit))]);
  return {
    mode: most(repositoryMode),
    units: Object.fromEntries(units) as UnitModes,
    ...(isOfJob(actor) && { statuses: most((grant) => grant.units.statuses ?? ACCESS.none) }),
  };
}

const NO_PERMISSION: RepositoryPermission = {
  mode: ACCESS.none,
  units: everyUnit(ACCESS.none),
};

/**
 * What the token of a job may do in public repositories besides its own: check them out, since
 * runners send it for each repository of the service.
 */
const READ_CODE_ONLY: RepositoryPermission = {
  mode: ACCESS.read,
  units: { ...everyUnit(ACCESS.none), code: ACCESS.read, releases: ACCESS.read },
  statuses: ACCESS.none,
};

/**
 * Teams of administrators and of owners own the repositories that they reach, with every unit, as
 * in Gitea; other teams grant a mode per unit.
 */
const unitMode = ({ access, units }: TeamGrant, unit: Unit): Access =>
  access >= ACCESS.admin ? ACCESS.owner : (units[unit] ?? ACCESS.none);

/**
 * The mode that a team grants in the repository itself: any granted unit makes the repository
 * visible.
 */
function repositoryMode({ access, units }: TeamGrant): Access {
  if (access >= ACCESS.admin) return ACCESS.owner;
  return Object.values(units).some((mode) => mode > ACCESS.none) ? ACCESS.read : ACCESS.none;
}

/** Whether the caller may read the repository without a grant. */
function isReadableWithoutGrant(actor: Actor, repo: Repository, facts: AccessFacts): boolean {
  const isReadableByMember = !repo.isPrivate && facts.isOrganizationMember;
  // Restricted users see only repositories that they were granted, or that their organizations do
  // not keep private.
  if (actor.user?.isRestricted) return isReadableByMember;
  if (repo.visibility === "public") return true;
  if (repo.visibility === "limited") return actor.user !== undefined;
  return isReadableByMember;
}

/**
 * The mode of a permission in a unit, or in the repository itself.
 *
 * A disabled unit does not exist, except for those who can enable it: administrators of the
 * repository read it.
 */
export function modeOf({ row, permission }: Permitted, unit: Unit | undefined): Access {
  if (unit === undefined) return permission.mode;
  if (isUnitOn(row, unit)) return permission.units[unit];
  return permission.mode >= ACCESS.admin ? ACCESS.read : ACCESS.none;
}

/** Whether a permission meets a requirement. */
export const isAllowed = (permitted: Permitted, { unit, mode }: Requirement): boolean =>
  modeOf(permitted, unit) >= ACCESS[mode];

/**
 * Refuses a caller whose permission in a repository does not meet a requirement.
 *
 * @throws Failure `not_found` for a repository or unit that the caller may not see; `forbidden`
 * where the caller's mode is lower than the required one.
 */
export function requireAccess(permitted: Permitted, { unit, mode }: Requirement): void {
  const granted = modeOf(permitted, unit);
  if (granted === ACCESS.none) throw notFound();
  if (granted >= ACCESS[mode]) return;
  const isOff = unit !== undefined && !isUnitOn(permitted.row, unit);
  throw forbidden(isOff ? `the repository's ${unit} unit is disabled` : REFUSALS[mode]);
}

const REFUSALS: Record<Mode, string> = {
  none: "",
  read: "",
  write: "user should have a permission to write to a repo",
  admin: "user should be a repo admin or a site admin",
  owner: "user should be the owner of the repo",
};
