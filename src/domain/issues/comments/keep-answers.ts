import { and, eq, inArray, notInArray, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { type Params, prepareAll } from "../../../db/prepared.ts";
import { codeComments } from "../../../db/schema/index.ts";

type DeletedComments = { readonly entryId: number } | { readonly reviewId: number };

const answer = alias(codeComments, "answer");
const root = alias(codeComments, "root");

/**
 * The statements before comments on code are deleted: of each conversation that begins with one of
 * them, the first answer that stays becomes the beginning.
 *
 * @param p What is deleted: a comment, or all of a review.
 */
export const keepAnswers = prepareAll((db, p: Params<DeletedComments>) => {
  const isDeleted =
    "entryId" in p ? eq(codeComments.entryId, p.entryId) : eq(codeComments.reviewId, p.reviewId);
  const deleted = db.select({ id: codeComments.entryId }).from(codeComments).where(isDeleted);
  const beginnings = db
    .select({
      formerId: sql<number>`${answer.rootId}`.as("former_id"),
      id: sql<number>`min(${answer.entryId})`.as("id"),
    })
    .from(answer)
    .where(and(inArray(answer.rootId, deleted), notInArray(answer.entryId, deleted)))
    .groupBy(answer.rootId)
    .as("beginnings");
  const ofRoot = (column: typeof root.resolverId | typeof root.resolvedAt) => sql`(
    select ${column}
    from ${codeComments} ${root}
    where ${root.entryId} = ${codeComments.rootId}
  )`;
  return [
    db
      .update(codeComments)
      .set({ resolverId: ofRoot(root.resolverId), resolvedAt: ofRoot(root.resolvedAt) })
      .where(inArray(codeComments.entryId, db.select({ id: beginnings.id }).from(beginnings))),
    // The first answer refers to itself until the next statement.
    db
      .update(codeComments)
      .set({ rootId: sql`${beginnings.id}` })
      .from(beginnings)
      .where(
        and(
          eq(codeComments.rootId, beginnings.formerId),
          notInArray(codeComments.entryId, deleted),
        ),
      ),
    db
      .update(codeComments)
      .set({ rootId: null })
      .where(eq(codeComments.rootId, codeComments.entryId)),
  ] as const;
});
