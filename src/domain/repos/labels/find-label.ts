import { and, asc, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { labels, type Label } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { isLabelOfId, type LabelOwner, type LabelOwnerId, labelOwnerId } from "./label-owner.ts";

/**
 * Finds a label of a repository or organization by its id or its exact name; digits are an id. Of
 * several labels of one name it is the oldest.
 *
 * @throws Failure `not_found` also for a label of another owner.
 */
export async function findLabel(ctx: Ctx, owner: LabelOwner, idOrName: string): Promise<Label> {
  const id = /^\d+$/.test(idOrName) ? Number(idOrName) : undefined;
  const key = id === undefined ? { name: idOrName } : { id };
  const [label] = await oneLabel(ctx.db, { owner: labelOwnerId(owner), key });
  if (!label) throw notFound("label does not exist");
  return label;
}

type LabelKey = { readonly id: number } | { readonly name: string };

const oneLabel = prepare((db, { owner, key }: Params<{ owner: LabelOwnerId; key: LabelKey }>) =>
  db
    .select()
    .from(labels)
    .where(and(isLabelOfId(owner), "id" in key ? eq(labels.id, key.id) : eq(labels.name, key.name)))
    .orderBy(asc(labels.id))
    .limit(1),
);
