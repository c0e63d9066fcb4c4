import type { Mode, Unit } from "../../db/schema/index.ts";

/** What a caller must be allowed: a mode in a unit, or in the repository itself. */
export type Requirement =
  | { readonly unit: Unit; readonly mode: Exclude<Mode, "none"> }
  // Nothing is written to a repository itself: its settings are for administrators.
  | { readonly unit?: undefined; readonly mode: "read" | "admin" | "owner" };

/** The least there is: the repository exists for the caller. */
export const TO_SEE: Requirement = { mode: "read" };
