import { commits } from "./commits.ts";
import { comparisons } from "./compare.ts";
import { statuses } from "./statuses.ts";

/** The routes of commits. Of two paths that fit a request, the one listed first answers. */
export const commitRoutes = [commits, comparisons, statuses];
