import { ACCESS, everyUnit, UNITS, type Access, type Team } from "../../../db/schema/index.ts";
import { invalid, invalidField } from "../../../lib/failure.ts";

/** The words for a mode in records of teams, which clients send back. */
export const TEAM_PERMISSIONS = ["none", "read", "write", "admin", "owner"] as const;

/** The grants of a team, as clients send them. */
export interface TeamGrantOptions {
  /** One of TEAM_PERMISSIONS; `none` and `owner` grant nothing. */
  permission?: string | undefined;
  /** Units, such as `repo.code`, that get the permission. */
  units?: readonly string[] | undefined;
  /** A mode for each unit; takes precedence over `units`. */
  unitsMap?: Readonly<Record<string, string>> | undefined;
}

export type TeamGrants = Pick<Team, "access" | "units">;

const MODES: Readonly<Record<string, Access>> = {
  read: ACCESS.read,
  write: ACCESS.write,
  admin: ACCESS.admin,
};

/** The mode of a word. SECURITY: no word grants ownership, which the team of owners alone has. */
const modeOf = (word: string | undefined): Access => MODES[word ?? ""] ?? ACCESS.none;

const ADMINISTRATION: TeamGrants = { access: ACCESS.admin, units: everyUnit(ACCESS.admin) };

/**
 * The grants of a new team.
 *
 * @throws Failure `invalid` for a unit or a mode that does not exist, and if the team would have no
 *   unit.
 */
export function readGrants(options: TeamGrantOptions): TeamGrants {
  checkWords(options);
  const mode = modeOf(options.permission);
  if (mode === ACCESS.admin) return ADMINISTRATION;
  return { access: ACCESS.none, units: readUnits(options, () => mode) };
}

/**
 * The grants of a team after an edit. A permission alone lowers the units above it and raises none,
 * since the team may have modes of its own for each unit; units without a permission keep the mode
 * they have.
 *
 * @throws Failure `invalid` for a unit or a mode that does not exist, and if the team would have no
 *   unit.
 */
export function changeGrants(team: Team, options: TeamGrantOptions): TeamGrants {
  checkWords(options);
  const { permission } = options;
  const mode = modeOf(permission);
  if (mode === ACCESS.admin) return ADMINISTRATION;
  const isAdministering = team.access >= ACCESS.admin;
  if (permission === undefined && isAdministering) return team;
  const current = isAdministering ? everyUnit(ACCESS.none) : team.units;
  if (hasUnits(options)) {
    const modeOfUnit = (unit: (typeof UNITS)[number]) =>
      permission === undefined ? (current[unit] ?? ACCESS.none) : mode;
    return { access: ACCESS.none, units: readUnits(options, modeOfUnit) };
  }
  if (permission === undefined) return { access: team.access, units: team.units };
  const lowered = UNITS.flatMap((unit) => {
    const granted = team.units[unit];
    return granted === undefined ? [] : [[unit, Math.min(granted, mode)] as const];
  });
  return { access: ACCESS.none, units: Object.fromEntries(lowered) };
}

const UNIT_NAMES: ReadonlySet<string> = new Set(UNITS.map((unit) => `repo.${unit}`));
const PERMISSIONS: ReadonlySet<string> = new Set(TEAM_PERMISSIONS);

/**
 * Clients that give each unit a mode of its own may send any permission beside them, which grants
 * nothing; py-gitea does.
 */
function checkWords({ permission, units = [], unitsMap = {} }: TeamGrantOptions): void {
  const rule = "must name units that exist, such as repo.code";
  if (!units.every((name) => UNIT_NAMES.has(name))) throw invalidField("units", rule);
  if (!Object.keys(unitsMap).every((name) => UNIT_NAMES.has(name))) {
    throw invalidField("units_map", rule);
  }
  if (!Object.values(unitsMap).every((word) => PERMISSIONS.has(word))) {
    throw invalidField("units_map", `must map units to ${TEAM_PERMISSIONS.join(", ")}`);
  }
  const isUsed = permission !== undefined && Object.keys(unitsMap).length === 0;
  if (isUsed && !PERMISSIONS.has(permission)) {
    throw invalidField("permission", `must be one of ${TEAM_PERMISSIONS.join(", ")}`);
  }
}

const hasUnits = ({ units = [], unitsMap = {} }: TeamGrantOptions): boolean =>
  units.length > 0 || Object.keys(unitsMap).length > 0;

function readUnits(
  { units = [], unitsMap = {} }: TeamGrantOptions,
  modeOfUnit: (unit: (typeof UNITS)[number]) => Access,
): Team["units"] {
  const isMapped = Object.keys(unitsMap).length > 0;
  const isNamed = (name: string) => (isMapped ? name in unitsMap : units.includes(name));
  const known = UNITS.filter((unit) => isNamed(`repo.${unit}`)).map((unit) => [
    unit,
    isMapped ? modeOf(unitsMap[`repo.${unit}`]) : modeOfUnit(unit),
  ]);
  if (known.length === 0) {
    throw invalidField("units", "must have at least 1 unit");
  }
  return Object.fromEntries(known) as Team["units"];
}

/** Words of addresses of teams, and names that no address can have. */
const RESERVED = new Set(["new", ".", ".."]);

/**
 * Validates the name of a team.
 *
 * @param field The field name in the error message.
 * @throws Failure `invalid` for an invalid or reserved name.
 */
export function checkTeamName(name: string, field = "name"): void {
  if (!/^[\w.-]+$/.test(name)) {
    throw invalidField(
      field,
      "must consist of ASCII letters, digits, dashes, dots and underscores",
    );
  }
  if (RESERVED.has(name.toLowerCase())) throw invalid(`name is reserved [name: ${name}]`);
}
