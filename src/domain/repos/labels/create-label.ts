import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { LAST_INSERT_ID } from "../../../db/json-of.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { labels, type Label } from "../../../db/schema/index.ts";
import { record, recordIfChanged } from "../../../events/record.ts";
import { only } from "../../../lib/only.ts";
import { readLabelColor } from "./label-color.ts";
import {
  isLabelOfId,
  labelEventOwner,
  labelOwnerColumns,
  type LabelOwner,
  type LabelOwnerId,
  labelOwnerId,
} from "./label-owner.ts";

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
  fields: LabelFields,
): Promise<Label> {
  const { db } = ctx;
  const [created] = await db.batch([
    insertLabel(db, toBoundRow(ctx, owner, fields)),
    record(ctx, createdEvent(owner)),
  ]);
  return only(created);
}

/**
 * Creates a label, unless its owner has one that is the same in all fields: a form may be sent
 * again after its answer was lost.
 *
 * @throws Failure as `createLabel`.
 */
export async function createLabelOnce(
  ctx: Ctx,
  owner: LabelOwner,
  fields: LabelFields,
): Promise<void> {
  const { db } = ctx;
  const row = toBoundRow(ctx, owner, fields);
  await batch(db, {
    created: insertMissingLabel(db, { owner: labelOwnerId(owner), row }),
    event: recordIfChanged(ctx, createdEvent(owner)),
  });
}

type LabelRow = BoundRow<typeof labels.$inferInsert>;

function toBoundRow(
  { now }: Ctx,
  owner: LabelOwner,
  { color, isArchived, ...fields }: LabelFields,
): LabelRow {
  return boundRow(labels, {
    ...labelOwnerColumns(owner),
    ...fields,
    color: readLabelColor(color),
    archivedAt: isArchived ? now : null,
    createdAt: now,
    updatedAt: now,
  });
}

const createdEvent = (owner: LabelOwner) => ({
  type: "label.created" as const,
  ...labelEventOwner(owner),
  labelId: LAST_INSERT_ID,
});

const insertLabel = prepare((db, row: Params<LabelRow>) =>
  db.insert(labels).values(row).returning(),
);

const insertMissingLabel = prepare(
  (db, { owner, row }: Params<{ owner: LabelOwnerId; row: LabelRow }>) => {
    const isSame = and(
      isLabelOfId(owner),
      eq(labels.name, row.name),
      eq(labels.color, row.color),
      sql`${labels.description} = ${row.description}`,
      sql`${labels.isExclusive} = ${row.isExclusive}`,
      sql`(${labels.archivedAt} is null) = (${row.archivedAt} is null)`,
    );
    return insertSelect(
      db,
      labels,
      row,
      sql`where not exists (select 1 from ${labels} where ${isSame})`,
    );
  },
);
