import { commits } from "./commits.ts";
import { comparisons } from "./compare.ts";
import { statuses } from "./statuses.ts";

/** The routes of commits. When two paths match a request, the one listed first handles it. */
export const commitRoutes = [commits, comparisons, statuses];
