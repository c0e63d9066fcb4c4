import { adminAudit } from "./audit.ts";
import { badges } from "./badges.ts";
import { cron } from "./cron.ts";
import { adminEmails } from "./emails.ts";
import { userKeys } from "./keys.ts";
import { adminRepositories } from "./repositories.ts";
import { quotas } from "./quotas.ts";
import { secondFactors } from "./second-factors.ts";
import { unadopted } from "./unadopted.ts";
import { adminUsers } from "./users.ts";

/**
 * The routes of administrators. When two paths match a request, the one listed first handles it.
 */
export const adminRoutes = [
  adminUsers,
  adminRepositories,
  userKeys,
  quotas,
  secondFactors,
  badges,
  adminEmails,
  cron,
  adminAudit,
  unadopted,
];
