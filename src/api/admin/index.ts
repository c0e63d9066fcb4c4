import { adminUsers } from "./users.ts";

/** The routes of administrators. Of two paths that fit a request, the one listed first answers. */
export const adminRoutes = [adminUsers];
