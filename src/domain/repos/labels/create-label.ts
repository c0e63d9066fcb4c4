import type { Ctx } from "../../../context.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { LAST_INSERT_ID } from "../../../db/json-of.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { labels, type Label } from "../../../db/schema/index.ts";
import { record } from "../../../events/record.ts";
import { only } from "../../../lib/only.ts";
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
  const row = {
    ...labelOwnerColumns(owner),
    ...fields,
    color: readLabelColor(color),
    archivedAt: isArchived ? now : null,
    createdAt: now,
    updatedAt: now,
  };
  const [created] = await db.batch([
    insertLabel(db, boundRow(labels, row)),
    record(ctx, {
      type: "label.created",
      ...labelEventOwner(owner),
      labelId: LAST_INSERT_ID,
    }),
  ]);
  return only(created);
}

const insertLabel = prepare((db, row: Params<BoundRow<typeof labels.$inferInsert>>) =>
  db.insert(labels).values(row).returning(),
);
