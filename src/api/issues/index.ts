import { issues } from "./issues.ts";
import { issueLists } from "./lists.ts";
import { issueSearch } from "./search.ts";
import { issueTemplates } from "./templates.ts";

/** The routes of issues. When two paths match a request, the one listed first handles it. */
export const issueRoutes = [issueTemplates, issueLists, issues];

/** Routes whose paths look like a repository's: they come before those of repositories. */
export const issueSearchRoutes = [issueSearch];
