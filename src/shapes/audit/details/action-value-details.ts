import { Changed, NoDetails } from "./common-details.ts";

/** Secrets and variables of Actions. The target is the name. */
export const ACTION_VALUE_DETAILS = {
  "secret.created": NoDetails,
  "secret.edited": NoDetails,
  "secret.deleted": NoDetails,
  "variable.created": NoDetails,
  "variable.edited": Changed,
  "variable.deleted": NoDetails,
} as const;
