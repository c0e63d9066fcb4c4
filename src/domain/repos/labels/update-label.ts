import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf, anyOf } from "../../../db/db.ts";
import { type Params, prepareAll } from "../../../db/prepared.ts";
import { labels, type Label } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { notFound } from "../../../lib/failure.ts";
import type { LabelFields } from "./create-label.ts";
import { readLabelColor } from "./label-color.ts";
import {
  isLabelOfId,
  labelEventOwner,
  type LabelOwner,
  labelOwnerId,
  type LabelOwnerId,
} from "./label-owner.ts";

/**
 * Edits a label; fields that are undefined stay as they are. Issues that have it and, by a new name
 * or a new exclusiveness, others of its scope keep them until one of the scope is attached.
 *
 * @throws Failure `invalid` for a colour that is none, `not_found` also for a label of another
 *   owner.
 */
export async function updateLabel(
  ctx: Ctx,
  owner: LabelOwner,
  labelId: number,
  fields: { readonly [K in keyof LabelFields]: LabelFields[K] | undefined },
): Promise<Label> {
  const { db, now } = ctx;
  const color = fields.color === undefined ? undefined : readLabelColor(fields.color);
  const ofLabel = { owner: labelOwnerId(owner), labelId };
  const statements = storeLabel(db, { ...fields, ...ofLabel, color, now });
  const { found } = await batch(db, {
    updated: statements.updated,
    event: recordIfChanged(ctx, { type: "label.edited", ...labelEventOwner(owner), labelId }),
    found: statements.found,
  });
  const [label] = found;
  if (!label) throw notFound("label does not exist");
  return label;
}

type EditedLabel = { readonly [K in keyof LabelFields]: LabelFields[K] | undefined } & {
  readonly owner: LabelOwnerId;
  readonly labelId: number;
  readonly now: number;
};

const storeLabel = prepareAll((db, p: Params<EditedLabel>) => {
  const { name, color, description, isExclusive, isArchived, now } = p;
  const isThis = allOf(eq(labels.id, p.labelId), isLabelOfId(p.owner));
  const isArchivedNow = sql`${labels.archivedAt} is not null`;
  const isChanged = anyOf(
    name && sql`${labels.name} <> ${name}`,
    color && sql`${labels.color} <> ${color}`,
    description && sql`${labels.description} <> ${description}`,
    isExclusive === undefined ? undefined : sql`${labels.isExclusive} <> ${isExclusive}`,
    isArchived === undefined ? undefined : sql`(${isArchivedNow}) <> ${isArchived}`,
  );
  return {
    updated: db
      .update(labels)
      .set({
        ...(name && { name }),
        ...(color && { color }),
        ...(description && { description }),
        ...(isExclusive !== undefined && { isExclusive }),
        ...(isArchived !== undefined && {
          archivedAt: sql`case when ${isArchived} then coalesce(${labels.archivedAt}, ${now}) end`,
        }),
        updatedAt: now,
      })
      .where(allOf(isThis, isChanged)),
    found: db.select().from(labels).where(isThis),
  };
});
