/** What someone may do, as a number that can be compared: a stored value, never renumbered. */
export const ACCESS = { none: 0, read: 1, write: 2, admin: 3, owner: 4 } as const;
export type Mode = keyof typeof ACCESS;
export type Access = (typeof ACCESS)[Mode];

/**
 * The parts of a repository that are switched on and granted one by one, by the names that teams
 * store. An external tracker or wiki takes the place of the repository's own.
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

/** A mode for each unit. */
export type UnitModes = Readonly<Record<Unit, Access>>;

/** The modes that a team gives. A unit that is missing is not granted, and not listed. */
export type TeamUnits = Readonly<Partial<UnitModes>>;

/** The same mode for every unit. */
export const everyUnit = (mode: Access): UnitModes =>
  Object.fromEntries(UNITS.map((unit) => [unit, mode])) as UnitModes;

/** What someone was granted in a repository, whatever is switched on there. */
export interface RepositoryPermission {
  /** In the repository itself: `read` to see it, `admin` for its settings, `owner` to delete it. */
  readonly mode: Access;
  readonly units: UnitModes;
}

/** Everything there is to do in a repository. */
export const OWNER_PERMISSION: RepositoryPermission = {
  mode: ACCESS.owner,
  units: everyUnit(ACCESS.owner),
};
