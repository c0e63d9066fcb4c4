import { Changed, NoDetails } from "./common-details.ts";

/** Actions. The target is the name of the secret or variable. */
export const ACTIONS_DETAILS = {
  "secret.created": NoDetails,
  "secret.edited": NoDetails,
  "secret.deleted": NoDetails,
  "variable.created": NoDetails,
  "variable.edited": Changed,
  "variable.deleted": NoDetails,
} as const;
