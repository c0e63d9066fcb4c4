import { sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { labels, type Label } from "../../db/schema/index.ts";
import { record } from "../../events/record.ts";
import { only } from "../../lib/only.ts";
import { readLabelColor } from "./label-color.ts";
import { labelEventOwner, labelOwnerColumns, type LabelOwner } from "./label-owner.ts";

/** The fields of a label. */
export interface LabelFields {
  readonly name: string;
  readonly color: string;
  readonly description: string;
  readonly isExclusive: boolean;
  readonly isArchived: boolean;
}

/**
 * Creates a label. Others may have the same name.
 *
 * @throws Failure `invalid` for a colour that is none.
 */
export async function createLabel(
  ctx: Ctx,
  owner: LabelOwner,
  { color, isArchived, ...fields }: LabelFields,
): Promise<Label> {
  const { db, now } = ctx;
  const [created] = await db.batch([
    db
      .insert(labels)
      .values({
        ...labelOwnerColumns(owner),
        ...fields,
        color: readLabelColor(color),
        archivedAt: isArchived ? now : null,
        createdAt: now,
        updatedAt: now,
      })
      .returning(),
    record(ctx, {
      type: "label.created",
      ...labelEventOwner(owner),
      labelId: sql`last_insert_rowid()`,
    }),
  ]);
  return only(created);
}
