import { dependencies } from "./dependencies.ts";
import { issues } from "./issues.ts";
import { issueTemplates } from "./templates.ts";

/** The routes of issues. When two paths match a request, the one listed first handles it. */
export const issueRoutes = [dependencies, issueTemplates, issues];
