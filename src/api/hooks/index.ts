import { organizationHooks } from "./organization-hooks.ts";
import { ownHooks } from "./own-hooks.ts";
import { repositoryHooks } from "./repository-hooks.ts";
import { siteHooks } from "./site-hooks.ts";

/** The routes of webhooks. When two paths match a request, the one listed first handles it. */
export const hookRoutes = [repositoryHooks, ownHooks, organizationHooks, siteHooks];
