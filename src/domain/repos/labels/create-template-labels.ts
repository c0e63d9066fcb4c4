import { eq, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { labels } from "../../../db/schema/index.ts";
import { recordEach } from "../../../events/record.ts";
import { invalidField } from "../../../lib/failure.ts";
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
 * Gives an owner the labels of a template, but for those whose names it has in any case. A
 * repository of an organization does not get those that it shares with the others, either.
 *
 * @throws Failure `invalid` for an unknown template.
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
  await batch(db, {
    created: insertNewLabels(db, {
      owner: ofOwner,
      sharedBy: "repo" in owner ? owner.repo.row.ownerId : owner.org.id,
      columns: labelOwnerColumns(owner),
      rows: JSON.stringify(template),
      now,
    }),
    events: recordEach(
      ctx,
      { type: "label.created", ...labelEventOwner(owner), labelId: sql`${labels.id}` },
      // The ids of one statement follow one another.
      sql`
        from ${labels}
        where ${isLabelOfId(ofOwner)}
          and changes() > 0
          and ${labels.id} > last_insert_rowid() - changes()
        order by ${labels.id}`,
    ),
  });
}

interface NewLabels {
  readonly owner: LabelOwnerId;
  /** The account that may share labels with the owner. */
  readonly sharedBy: number;
  readonly columns: ReturnType<typeof labelOwnerColumns>;
  /** JSON. */
  readonly rows: string;
  readonly now: number;
}

const insertNewLabels = prepare(
  (db, { owner, sharedBy, columns, rows, now }: Params<NewLabels>) => {
    const isNamed = (of: SQL) => sql`exists (
      select 1
      from ${labels}
      where ${of} and lower(${labels.name}) = lower(value ->> 'name')
    )`;
    return insertSelect(
      db,
      labels,
      { ...TEMPLATE_COLUMNS, ...columns, createdAt: now, updatedAt: now },
      sql`
        from json_each(${rows})
        where not ${isNamed(isLabelOfId(owner))} and not ${isNamed(eq(labels.orgId, sharedBy))}
        order by key`,
    );
  },
);
