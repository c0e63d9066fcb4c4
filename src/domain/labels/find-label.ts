import { and, asc, eq } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { labels, type Label } from "../../db/schema/index.ts";
import { notFound } from "../../lib/failure.ts";
import { isLabelOf, type LabelOwner } from "./label-owner.ts";

/**
 * Finds a label of a repository or organization by its id or its exact name; digits are an id. Of several labels of one
 * name it is the oldest.
 *
 * @throws Failure `not_found` also for a label of another owner.
 */
export async function findLabel(ctx: Ctx, owner: LabelOwner, idOrName: string): Promise<Label> {
  const id = /^\d+$/.test(idOrName) ? Number(idOrName) : undefined;
  const [label] = await ctx.db
    .select()
    .from(labels)
    .where(and(isLabelOf(owner), id === undefined ? eq(labels.name, idOrName) : eq(labels.id, id)))
    .orderBy(asc(labels.id))
    .limit(1);
  if (!label) throw notFound("label does not exist");
  return label;
}
