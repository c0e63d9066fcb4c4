import { z } from "@hono/zod-openapi";

import { Changed, NoDetails, RenamedFrom } from "./common-details.ts";

/** Organizations, their members and their teams. The target is the name of the team or ruleset. */
export const ORGANIZATION_DETAILS = {
  "organization.created": NoDetails,
  "organization.edited": Changed,
  "organization.renamed": RenamedFrom,
  "organization.deleted": NoDetails,
  "organization.member_removed": NoDetails,
  "organization.member_visibility_changed": z.object({ isPublic: z.boolean() }),
  "team.created": z.object({ permission: z.string() }),
  "team.edited": Changed,
  "team.deleted": NoDetails,
  "team.member_added": NoDetails,
  "team.member_removed": NoDetails,
  "team.repository_added": NoDetails,
  "team.repository_removed": NoDetails,
  "ruleset.created": NoDetails,
  "ruleset.edited": NoDetails,
  "ruleset.deleted": NoDetails,
} as const;
