import { packageCleanupRules } from "./cleanup-rules.ts";
import { packageLinks } from "./links.ts";
import { packageNoun } from "./packages.ts";

/**
 * The routes of packages. When two paths match a request, the one listed first handles it: the
 * segment `-` is no type and no version.
 */
export const packageRoutes = [packageCleanupRules, packageLinks, packageNoun];
