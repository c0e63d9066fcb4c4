import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { labels } from "../../../db/schema/index.ts";
import { recordEach } from "../../../events/record.ts";
import { conflict, invalidField } from "../../../lib/failure.ts";
import { findLabelTemplate } from "../../code/templates/label-templates.ts";
import { TEMPLATE_COLUMNS } from "./insert-template-labels.ts";
import {
  isLabelOfId,
  labelEventOwner,
  type LabelOwner,
  type LabelOwnerId,
  labelOwnerColumns,
  labelOwnerId,
} from "./label-owner.ts";

/**
 * Gives an owner without labels those of a template.
 *
 * @throws Failure `invalid` for an unknown template, `conflict` for an owner that has labels.
 */
export async function createTemplateLabels(
  ctx: Ctx,
  owner: LabelOwner,
  templateName: string,
): Promise<void> {
  const { db, now } = ctx;
  const template = findLabelTemplate(templateName);
  if (!template) throw invalidField("template_name", "must name a template of labels");
  const ofOwner = labelOwnerId(owner);
  const { created } = await batch(db, {
    created: insertFirstLabels(db, {
      owner: ofOwner,
      columns: labelOwnerColumns(owner),
      rows: JSON.stringify(template),
      now,
    }),
    events: recordEach(
      ctx,
      { type: "label.created", ...labelEventOwner(owner), labelId: sql`${labels.id}` },
      // The owner had no others before.
      sql`from ${labels} where ${isLabelOfId(ofOwner)} and changes() > 0 order by ${labels.id}`,
    ),
  });
  if (created.length === 0) throw conflict("There are labels already.");
}

interface FirstLabels {
  readonly owner: LabelOwnerId;
  readonly columns: ReturnType<typeof labelOwnerColumns>;
  /** JSON. */
  readonly rows: string;
  readonly now: number;
}

const insertFirstLabels = prepare((db, { owner, columns, rows, now }: Params<FirstLabels>) =>
  insertSelect(
    db,
    labels,
    { ...TEMPLATE_COLUMNS, ...columns, createdAt: now, updatedAt: now },
    sql`
      from json_each(${rows})
      where not exists (select 1 from ${labels} where ${isLabelOfId(owner)})
      order by key`,
  ).returning({ id: labels.id }),
);
