import type { Mode, Unit } from "../../db/schema/index.ts";

/** The permission that a caller needs: a mode in a unit, or in the repository itself. */
export type Requirement =
  | { readonly unit: Unit; readonly mode: Exclude<Mode, "none"> }
  // Without `write`: only units are written to, and the repository's own settings need `admin`.
  | { readonly unit?: undefined; readonly mode: "read" | "admin" | "owner" };

/** The lowest requirement: the caller may see the repository. */
export const TO_SEE: Requirement = { mode: "read" };
