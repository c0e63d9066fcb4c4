import { and, eq, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { codeComments, reviews } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { forbidden, invalid } from "../../lib/failure.ts";
import type { PullContext } from "../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../shapes/pulls/pull-review.ts";
import { eventSubject } from "../issues/event-subject.ts";
import { requireNotArchived } from "../issues/require-issue-access.ts";
import { restoreOfficial } from "./review-states.ts";

/**
 * Deletes a review with its comments. Conversations that others answered in go on with the first answer.
 *
 * @throws Failure `forbidden` for others than its author and administrators of the site; `invalid` for a request, which
 * is taken back; `locked` in an archived repository.
 */
export async function deleteReview(
  ctx: Ctx,
  pull: PullContext,
  { row }: ReviewContext,
): Promise<void> {
  const { user, isSiteAdmin } = ctx.actor;
  const isAuthor = row.reviewerId !== null && row.reviewerId === user?.id;
  if (!isAuthor && !isSiteAdmin) throw forbidden("only its author may delete a review");
  requireNotArchived(pull.repo);
  if (row.state === "request_review") {
    throw invalid("review request can not be deleted using this method");
  }
  const { id, reviewerId, isOfficial } = row;
  const { isPull: _, ...subject } = eventSubject(pull);
  await ctx.db.batch([
    ...keepAnswers(ctx, eq(codeComments.reviewId, id)),
    ctx.db.delete(reviews).where(and(eq(reviews.id, id), eq(reviews.issueId, pull.row.id))),
    // Nobody but its author knew of a pending one.
    ...(row.state === "pending"
      ? []
      : [recordIfChanged(ctx, { type: "review.deleted", ...subject, reviewId: id })]),
    ...(isOfficial ? [restoreOfficial(ctx, pull.row.id, sql`(${reviewerId})`)] : []),
  ]);
}

/**
 * The statements before comments on code are deleted: of each conversation that begins with one of them, the first answer
 * that stays becomes the beginning.
 *
 * @param isDeleted A condition on `code_comments`.
 */
export function keepAnswers({ db }: Ctx, isDeleted: SQL) {
  const deleted = sql`(
    select ${codeComments.entryId} from ${codeComments} where ${isDeleted}
  )`;
  const staying = sql`
    select answer.root_id as old_id, min(answer.entry_id) as new_id
    from ${codeComments} answer
    where answer.root_id in ${deleted} and answer.entry_id not in ${deleted}
    group by answer.root_id`;
  const ofRoot = (column: string) => sql`(
    select ${sql.raw(`root.${column}`)}
    from ${codeComments} root
    where root.entry_id = ${codeComments.rootId}
  )`;
  return [
    db
      .update(codeComments)
      .set({ resolverId: ofRoot("resolver_id"), resolvedAt: ofRoot("resolved_at") })
      .where(sql`${codeComments.entryId} in (select new_id from (${staying}))`),
    // The first answer refers to itself until the next statement.
    db
      .update(codeComments)
      .set({ rootId: sql`staying.new_id` })
      .from(sql`(${staying}) staying`)
      .where(
        sql`${codeComments.rootId} = staying.old_id and ${codeComments.entryId} not in ${deleted}`,
      ),
    db
      .update(codeComments)
      .set({ rootId: null })
      .where(sql`${codeComments.rootId} = ${codeComments.entryId}`),
  ] as const;
}
