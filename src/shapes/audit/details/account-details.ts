import { z } from "@hono/zod-openapi";

import { Changed, NoDetails, RenamedFrom } from "./common-details.ts";

/** Users: their accounts, addresses, roles and badges. The target of an address is the address. */
export const ACCOUNT_DETAILS = {
  "user.created": z.object({ isAdmin: z.boolean() }),
  "user.edited": Changed,
  /** The site-wide roles and restrictions of a user, as they became. */
  "user.role_changed": z.object({
    isAdmin: z.boolean(),
    isActive: z.boolean(),
    isRestricted: z.boolean(),
    isLoginProhibited: z.boolean(),
  }),
  "user.renamed": RenamedFrom,
  "user.deletion_requested": NoDetails,
  "user.deleted": z.object({ isPurged: z.boolean() }),
  "user.badges_changed": z.object({ added: z.array(z.string()), removed: z.array(z.string()) }),
  "user.blocked": NoDetails,
  "user.unblocked": NoDetails,
  "email.added": NoDetails,
  "email.removed": NoDetails,
  "badge.created": NoDetails,
  "badge.deleted": NoDetails,
  "cron.run": NoDetails,
  /** An administrator tried again what failed: the target is its kind and id. */
  "job.retried": NoDetails,
} as const;
