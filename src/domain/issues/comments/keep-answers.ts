import { eq, sql } from "drizzle-orm";

import { type Params, prepareAll } from "../../../db/prepared.ts";
import { codeComments } from "../../../db/schema/index.ts";

type DeletedComments = { readonly entryId: number } | { readonly reviewId: number };

/**
 * The statements before comments on code are deleted: of each conversation that begins with one of
 * them, the first answer that stays becomes the beginning.
 *
 * @param p What is deleted: a comment, or all of a review.
 */
export const keepAnswers = prepareAll((db, p: Params<DeletedComments>) => {
  const isDeleted =
    "entryId" in p ? eq(codeComments.entryId, p.entryId) : eq(codeComments.reviewId, p.reviewId);
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
});
