import { and, eq, ne, or, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { reviews } from "../../db/schema/index.ts";
import { recordEach } from "../../events/record.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import { insertEntries } from "../issues/insert-entry.ts";
import { rulesOfBranch } from "../protections/match-rule.ts";
import { loadRules } from "../protections/select-rules.ts";
import { isSubmitted } from "./review-states.ts";

/**
 * Marks the reviews of other commits than the present head as stale, and dismisses approvals among them where a rule of
 * the base wants that. Repeated for the same head it changes nothing.
 *
 * Cost: one round trip, and one before it where the rules of the repository are not loaded.
 */
export async function markStale(ctx: Ctx, pull: PullContext, newHeadOid: string): Promise<void> {
  const { repo, row } = pull;
  const rules = rulesOfBranch(await loadRules(ctx, repo), pull.pull.baseBranch);
  const isDismissing = rules.some(({ settings }) => settings.dismissStaleApprovals);
  const isOld = ne(reviews.commitOid, newHeadOid);
  const ofPull = (isStale: boolean): SQL | undefined =>
    and(
      eq(reviews.issueId, row.id),
      eq(reviews.isStale, !isStale),
      or(isSubmitted, eq(reviews.state, "pending")),
      isStale ? isOld : eq(reviews.commitOid, newHeadOid),
    );
  await ctx.db.batch([
    ctx.db.update(reviews).set({ isStale: true }).where(ofPull(true)),
    ctx.db.update(reviews).set({ isStale: false }).where(ofPull(false)),
    ...(isDismissing ? dropApprovals(ctx, pull, isOld) : []),
  ]);
}

/**
 * The statements that dismiss approvals of a pull request, in the batch of what makes them void: another head, where a
 * rule wants that, or another base.
 *
 * SECURITY: an approval is for the base that it was given for: another one may be under other rules.
 *
 * @param condition Which approvals; all of them without one.
 */
export function dropApprovals(ctx: Ctx, { repo, row }: PullContext, condition?: SQL) {
  const isDropped = and(
    eq(reviews.issueId, row.id),
    eq(reviews.state, "approved"),
    eq(reviews.isDismissed, false),
    condition,
  );
  const dropped = sql`from ${reviews} where ${isDropped} order by ${reviews.id}`;
  const subject = { repoId: repo.row.id, issueId: row.id };
  return [
    insertEntries(
      ctx,
      { kind: "dismiss_review", ...subject, reviewId: sql`${reviews.id}` },
      dropped,
    ),
    recordEach(
      ctx,
      {
        ...{ type: "review.dismissed", ownerId: repo.row.ownerId, number: row.number },
        ...{ ...subject, reviewId: sql`${reviews.id}` },
      },
      dropped,
    ),
    ctx.db.update(reviews).set({ isDismissed: true, updatedAt: ctx.now }).where(isDropped),
  ] as const;
}
