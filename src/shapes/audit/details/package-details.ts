import { NoDetails } from "./common-details.ts";

/** Packages of an account. The target is the type and the name; of a cleanup rule the type. */
export const PACKAGE_DETAILS = {
  "package.linked": NoDetails,
  "package.unlinked": NoDetails,
  "package_cleanup_rule.created": NoDetails,
  "package_cleanup_rule.edited": NoDetails,
  "package_cleanup_rule.deleted": NoDetails,
} as const;
