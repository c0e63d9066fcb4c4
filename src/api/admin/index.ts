import { adminAudit } from "./audit.ts";
import { adminRepositories } from "./repositories.ts";
import { adminUsers } from "./users.ts";

/** The routes of administrators. When two paths match a request, the one listed first handles it. */
export const adminRoutes = [adminUsers, adminRepositories, adminAudit];
