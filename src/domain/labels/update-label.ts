import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { allOf, anyOf } from "../../db/db.ts";
import { labels, type Label } from "../../db/schema/index.ts";
import { recordIfChanged } from "../../events/record.ts";
import { notFound } from "../../lib/failure.ts";
import type { LabelFields } from "./create-label.ts";
import { readLabelColor } from "./label-color.ts";
import { isLabelWithId, labelEventOwner, type LabelOwner } from "./label-owner.ts";

/**
 * Edits a label; fields that are undefined stay as they are. Issues that have it and, by a new name or a new
 * exclusiveness, others of its scope keep them until one of the scope is attached.
 *
 * @throws Failure `invalid` for a colour that is none, `not_found` also for a label of another owner.
 */
export async function updateLabel(
  ctx: Ctx,
  owner: LabelOwner,
  labelId: number,
  fields: { readonly [K in keyof LabelFields]: LabelFields[K] | undefined },
): Promise<Label> {
  const { db, now } = ctx;
  const isThis = isLabelWithId(owner, labelId);
  const { name, description, isExclusive, isArchived } = fields;
  const color = fields.color === undefined ? undefined : readLabelColor(fields.color);
  const isArchivedNow = sql`${labels.archivedAt} is not null`;
  const isChanged = anyOf(
    name === undefined ? undefined : sql`${labels.name} <> ${name}`,
    color === undefined ? undefined : sql`${labels.color} <> ${color}`,
    description === undefined ? undefined : sql`${labels.description} <> ${description}`,
    isExclusive === undefined ? undefined : sql`${labels.isExclusive} <> ${isExclusive}`,
    isArchived === undefined ? undefined : sql`(${isArchivedNow}) <> ${isArchived}`,
  );
  const [, , [label]] = await db.batch([
    db
      .update(labels)
      .set({
        name,
        color,
        description,
        isExclusive,
        archivedAt:
          isArchived === undefined
            ? undefined
            : sql`case when ${isArchived} then coalesce(${labels.archivedAt}, ${now}) end`,
        updatedAt: now,
      })
      .where(allOf(isThis, isChanged)),
    recordIfChanged(ctx, { type: "label.edited", ...labelEventOwner(owner), labelId }),
    db.select().from(labels).where(isThis),
  ]);
  if (!label) throw notFound("label does not exist");
  return label;
}
