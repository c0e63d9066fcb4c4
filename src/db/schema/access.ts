/** Access modes as comparable numbers. The numbers are stored: never renumber them. */
export const ACCESS = { none: 0, read: 1, write: 2, admin: 3, owner: 4 } as const;
export type Mode = keyof typeof ACCESS;
export type Access = (typeof ACCESS)[Mode];

/**
 * The parts of a repository that are enabled and granted individually, by the names that teams
 * store. An external tracker or wiki replaces the repository's own.
 */
export const UNITS = [
  "code",
  "issues",
  "ext_issues",
  "pulls",
  "releases",
  "wiki",
  "ext_wiki",
  "projects",
  "packages",
  "actions",
] as const;
export type Unit = (typeof UNITS)[number];

/** An access mode for each unit. */
export type UnitModes = Readonly<Record<Unit, Access>>;

/** The modes that a team grants. A missing unit is not granted, and not listed. */
export type TeamUnits = Readonly<Partial<UnitModes>>;

/** What the token of a job grants: commit statuses are granted apart from the code. */
export type JobGrants = TeamUnits & { readonly statuses?: Access };

/** The same mode for every unit. */
export const everyUnit = (mode: Access): UnitModes =>
  Object.fromEntries(UNITS.map((unit) => [unit, mode])) as UnitModes;

/** A caller's permission in a repository, regardless of which units are enabled there. */
export interface RepositoryPermission {
  /**
   * The mode in the repository itself: `read` to see it, `admin` for its settings, `owner` to
   * delete it.
   */
  readonly mode: Access;
  readonly units: UnitModes;
  /** The mode in commit statuses of a job, to which they are granted apart from the code. */
  readonly statuses?: Access;
}

/** The permission of a repository's owner. */
export const OWNER_PERMISSION: RepositoryPermission = {
  mode: ACCESS.owner,
  units: everyUnit(ACCESS.owner),
};
