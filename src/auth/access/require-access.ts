import { ACCESS, type Mode } from "../../db/schema/index.ts";
import { forbidden, notFound } from "../../lib/failure.ts";
import type { Permitted } from "./permission.ts";
import type { Requirement } from "./requirement.ts";
import { isUnitOn } from "./unit-switches.ts";

/**
 * Refuses a caller whose permission in a repository does not meet a requirement.
 *
 * @throws Failure `not_found` for a repository or unit that the caller may not see, and for a disabled unit;
 * `forbidden` where the caller's mode is lower than the required one.
 */
export function requireAccess({ row, permission }: Permitted, { unit, mode }: Requirement): void {
  const granted = unit === undefined ? permission.mode : permission.units[unit];
  if (granted === ACCESS.none) throw notFound();
  if (granted < ACCESS[mode]) throw forbidden(REFUSALS[mode]);
  if (unit !== undefined && !isUnitOn(row, unit)) throw notFound();
}

const REFUSALS: Record<Mode, string> = {
  none: "",
  read: "",
  write: "user should have a permission to write to a repo",
  admin: "user should be a repo admin or a site admin",
  owner: "user should be the owner of the repo",
};
