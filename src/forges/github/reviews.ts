import type { ForeignFilter, ForeignPage, ForeignReview } from "../forge.ts";
import { codeReactionCost, readCodeComments } from "./code-comments.ts";
import { readConversation } from "./conversations.ts";
import type { GitHubApi } from "./github-api.ts";
import { RequestBudget } from "./request-budget.ts";
import { isPull, readThreads, type Thread } from "./threads.ts";

/** The requests that a pull request with few reviews takes. */
const CONVERSATION_COST = 4;

/**
 * Reads the reviews of a page of pull requests: oldest pull requests first, and of each the oldest
 * reviews first.
 *
 * GitHub lists reviews for single pull requests only. A page may end amid the reviews of one.
 */
export async function readReviews(
  api: GitHubApi,
  cursor: string | undefined,
  filter: ForeignFilter,
): Promise<ForeignPage<ForeignReview>> {
  if (!filter.includesPulls) return { items: [], next: undefined };
  const page = await readThreads(api, cursor, filter);
  const budget = new RequestBudget();
  const items: ForeignReview[] = [];
  const leftOut: string[] = [];
  let last: Thread | undefined;
  // The review after which to go on, if the page before has ended amid the reviews of the first
  // pull request.
  let { within } = page;

  for (const thread of page.items) {
    if (isPull(thread)) {
      const conversation = budget.allows(CONVERSATION_COST)
        ? await readConversation(api, thread, budget)
        : undefined;
      if (!conversation) return { items, next: page.after(last), leftOut };
      const { reviews } = conversation;
      const readCount = reviews.findIndex(({ foreignId }) => foreignId === within) + 1;
      if (readCount === 0) leftOut.push(...conversation.leftOut);
      for (const review of reviews.slice(readCount)) {
        const cost = codeReactionCost(review.comments);
        if (cost > budget.left && items.length > 0) {
          return { items, next: page.after(last, within), leftOut };
        }
        budget.spend(cost);
        items.push({ ...review, comments: await readCodeComments(api, review.comments) });
        within = review.foreignId;
      }
    }
    last = thread;
    within = "";
  }
  return { items, next: page.next, leftOut };
}
