import { issueTemplates } from "./templates.ts";

/** The routes of issues. Of two paths that fit a request, the one listed first answers. */
export const issueRoutes = [issueTemplates];
