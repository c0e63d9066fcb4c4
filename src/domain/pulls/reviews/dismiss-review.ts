import { and, eq, lte, sql } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { issues, reviews } from "../../../db/schema/index.ts";
import { recordEach } from "../../../events/record.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { requireUnitOn } from "../../issues/comments/participation.ts";
import { insertEntries } from "../../issues/issue/insert-entry.ts";
import { requireNotArchived } from "../../issues/issue/require-issue-access.ts";
import { isVoting } from "./review-states.ts";

/** The input for a dismissal. */
export interface Dismissal {
  readonly message: string;
  /** Whether earlier approvals and rejections of the same user are dismissed too. */
  readonly includesPriors: boolean;
}

/**
 * Refuses callers who may not dismiss reviews.
 *
 * @throws Failure `forbidden` for others than administrators of the repository.
 */
export function requireDismissal(repo: RepositoryContext): void {
  if (!isAllowed(repo, { mode: "admin" })) throw forbidden("Must be repo admin");
}

/**
 * Dismisses a review: it counts no more. Dismissing it again changes nothing.
 *
 * @throws Failure `forbidden` for others than administrators of the repository, for reviews that
 * neither approve nor ask for changes, and if the pull request is closed; `locked` in an archived
 * repository.
 */
export async function dismissReview(
  ctx: Ctx,
  pull: PullContext,
  review: ReviewContext,
  { message, includesPriors }: Dismissal,
): Promise<ReviewContext> {
  requireDismissible(pull, review);
  const { repo, row } = pull;
  const { id, reviewerId } = review.row;
  const isDismissed = and(
    eq(reviews.issueId, row.id),
    sql`${reviews.state} in ('approved', 'request_changes')`,
    eq(reviews.isDismissed, false),
    includesPriors && reviewerId !== null
      ? and(eq(reviews.reviewerId, reviewerId), lte(reviews.id, id))
      : eq(reviews.id, id),
    isOpen(pull),
  );
  const dismissed = sql`from ${reviews} where ${isDismissed} order by ${reviews.id}`;
  const subject = { repoId: repo.row.id, issueId: row.id };
  await ctx.db.batch([
    insertEntries(
      ctx,
      { kind: "dismiss_review", ...subject, reviewId: sql`${reviews.id}`, body: message },
      dismissed,
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
      dismissed,
    ),
    ctx.db.update(reviews).set({ isDismissed: true, updatedAt: ctx.now }).where(isDismissed),
  ]);
  return { ...review, row: { ...review.row, isDismissed: true } };
}

/**
 * Lets a dismissed review count again.
 *
 * @throws Failure as `dismissReview`.
 */
export async function undismissReview(
  ctx: Ctx,
  pull: PullContext,
  review: ReviewContext,
): Promise<ReviewContext> {
  requireDismissible(pull, review);
  const { repo, row } = pull;
  const { id } = review.row;
  const isRestored = and(eq(reviews.id, id), eq(reviews.isDismissed, true), isOpen(pull));
  await ctx.db.batch([
    recordEach(
      ctx,
      {
        type: "review.undismissed",
        repoId: repo.row.id,
        ownerId: repo.row.ownerId,
        issueId: row.id,
        number: row.number,
        reviewId: id,
      },
      sql`from ${reviews} where ${isRestored}`,
    ),
    ctx.db.update(reviews).set({ isDismissed: false, updatedAt: ctx.now }).where(isRestored),
  ]);
  return { ...review, row: { ...review.row, isDismissed: false } };
}

const isOpen = ({ row }: PullContext) => sql`exists (
  select 1 from ${issues} where ${issues.id} = ${row.id} and not ${issues.isClosed}
)`;

function requireDismissible(pull: PullContext, { row }: ReviewContext): void {
  requireDismissal(pull.repo);
  requireUnitOn(pull);
  requireNotArchived(pull.repo);
  const why = "not need to dismiss this review because";
  if (!isVoting(row)) throw forbidden(`${why} it's type is not Approve or change request`);
  if (pull.row.isClosed) throw forbidden(`${why} this pr is closed`);
}
