import { adminAudit } from "./audit.ts";
import { adminUsers } from "./users.ts";

/** The routes of administrators. When two paths match a request, the one listed first handles it. */
export const adminRoutes = [adminUsers, adminAudit];
