import { pullChanges } from "./changes.ts";
import { pullsOfBranches } from "./of-branches.ts";
import { pullRequests } from "./pulls.ts";
import { reviewRequests } from "./review-requests.ts";

/** The routes of pull requests. When two paths match a request, the one listed first handles it. */
export const pullRoutes = [
  pullChanges,
  pullRequests,
  reviewRequests,
  // Last: its path matches what is below a pull request, too.
  pullsOfBranches,
];
