import { issueLabels } from "./issue-labels.ts";
import { organizationLabels } from "./organization-labels.ts";
import { repositoryLabels } from "./repository-labels.ts";

/** The routes of labels. When two paths match a request, the one listed first handles it. */
export const labelRoutes = [repositoryLabels, organizationLabels, issueLabels];
