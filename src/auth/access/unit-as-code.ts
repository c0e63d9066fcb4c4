import type { Unit } from "../../db/schema/index.ts";
import { modeOf, type Permitted } from "./permission.ts";
import { isUnitOn } from "./unit-switches.ts";

/** A repository in which the code is as available, and to the caller as permitted, as a unit is. */
export const unitAsCode = <T extends Permitted>(repo: T, unit: Unit): T => ({
  ...repo,
  row: { ...repo.row, hasCode: isUnitOn(repo.row, unit) },
  permission: {
    ...repo.permission,
    units: { ...repo.permission.units, code: modeOf(repo, unit) },
  },
});
