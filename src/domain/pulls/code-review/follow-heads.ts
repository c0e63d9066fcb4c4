import { eq } from "drizzle-orm";

import { pulls } from "../../../db/schema/index.ts";
import type { Consequence } from "../../../events/consequence.ts";
import { loadPulls } from "../sync/load-pulls.ts";
import { followComments } from "../reviews/follow-comments.ts";

/**
 * Takes the comments on code of a pull request along to another head. Its reviews are marked with
 * the move itself.
 */
export const followHeads: Consequence = {
  name: "review-heads",
  kinds: ["pull.synchronized", "pull.retargeted"],
  async handle(ctx, { event }, budget) {
    if (event.type !== "pull.synchronized" && event.type !== "pull.retargeted") return undefined;
    budget.consume(4);
    // The present state, so that events of the same pull request may come in any order.
    const [found] = await loadPulls(ctx, eq(pulls.issueId, event.issueId), 1);
    if (!found) return undefined;
    const { headOid, mergeBaseOid } = found.pull;
    const isDone = await followComments(ctx, found, headOid, mergeBaseOid);
    return isDone ? undefined : "more";
  },
};
