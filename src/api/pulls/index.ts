import { pullChanges } from "./changes.ts";
import { pullMerge } from "./merge.ts";
import { pullMergeQueues } from "./merge-queues.ts";
import { codeComments } from "./code-comments.ts";
import { pullsOfBranches } from "./of-branches.ts";
import { pullRequests } from "./pulls.ts";
import { reviewRequests } from "./review-requests.ts";
import { pullReviews } from "./reviews.ts";

/** The routes of pull requests. When two paths match a request, the one listed first handles it. */
export const pullRoutes = [
  pullChanges,
  pullMerge,
  pullMergeQueues,
  pullRequests,
  reviewRequests,
  pullReviews,
  codeComments,
  // Last: its path matches what is below a pull request, too.
  pullsOfBranches,
];
