import { and, eq, ne, or, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { pulls, reviews } from "../../../db/schema/index.ts";
import { recordEach } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import { insertEntries } from "../../issues/issue/insert-entry.ts";
import { rulesOfBranch } from "../../code/protections/match-rule.ts";
import { isSubmittedReview } from "./review-states.ts";

/** Another head of a pull request. */
export interface NewHead {
  readonly headOid: Oid;
  /** Whether it offers the base the same change as the former one. */
  readonly isSameChange: boolean;
}

/**
 * The statements that mark the reviews of a pull request for another head, and dismiss approvals
 * where a rule of the base wants that. They belong before the statement that moves the head, in its
 * batch, and write nothing if the head is not the former one any more.
 *
 * SECURITY: an approval that a rule drops with a push is gone in the moment in which the new head
 * shows.
 *
 * A head that offers the same change leaves reviews as they are. A review of the very commit is
 * never stale.
 *
 * @param rules Of the base's repository.
 */
export function headStatements(
  ctx: Ctx,
  pull: PullContext,
  rules: RepositoryRules,
  { headOid, isSameChange }: NewHead,
) {
  const { row } = pull;
  const isMoving = sql`exists (
    select 1
    from ${pulls}
    where ${pulls.issueId} = ${row.id} and ${pulls.headOid} = ${pull.pull.headOid}
      and not ${pulls.isClosed}
  )`;
  const mark = (isStale: boolean, condition: SQL) =>
    ctx.db
      .update(reviews)
      .set({ isStale })
      .where(
        and(
          eq(reviews.issueId, row.id),
          eq(reviews.isStale, !isStale),
          or(isSubmittedReview, eq(reviews.state, "pending")),
          condition,
          isMoving,
        ),
      );
  const fresh = mark(false, eq(reviews.commitOid, headOid));
  if (isSameChange) return [fresh];
  const isOther = ne(reviews.commitOid, headOid);
  return [
    fresh,
    mark(true, isOther),
    ...(dismissesStale(rules, pull) ? dropApprovals(ctx, pull, and(isOther, isMoving)) : []),
  ];
}

/** Whether a rule of the base dismisses approvals of other commits than the head. */
export const dismissesStale = (rules: RepositoryRules, { pull }: PullContext): boolean =>
  rulesOfBranch(rules, pull.baseBranch).some(({ settings }) => settings.dismissStaleApprovals);

/**
 * The statements that dismiss approvals of a pull request, in the batch of what makes them void:
 * another head, where a rule wants that, or another base.
 *
 * SECURITY: an approval holds for the base that it was made for: another one may be under other
---
 * rules.
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
        type: "review.dismissed",
        ownerId: repo.row.ownerId,
        number: row.number,
        ...subject,
        reviewId: sql`${reviews.id}`,
      },
      dropped,
    ),
    ctx.db.update(reviews).set({ isDismissed: true, updatedAt: ctx.now }).where(isDropped),
  ] as const;
}
