import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { newRepositoryId, type NewRepositoryRef } from "../../../db/new-repository-id.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { labels } from "../../../db/schema/index.ts";
import { type LabelTemplateName, templateLabels } from "../../code/templates/label-templates.ts";

/**
 * The statement that gives a new repository the labels of a template, for the batch that inserts
 * it.
 */
export const insertTemplateLabels = (
  { db, now }: Ctx,
  repo: NewRepositoryRef,
  template: LabelTemplateName,
) => insertLabels(db, { repo, rows: JSON.stringify(templateLabels(template)), now });

interface TemplateLabels {
  readonly repo: NewRepositoryRef;
  /** JSON. */
  readonly rows: string;
  readonly now: number;
}

/** The columns of the labels of a template, from their JSON. */
export const TEMPLATE_COLUMNS = {
  name: sql`value ->> 'name'`,
  color: sql`value ->> 'color'`,
  description: sql`value ->> 'description'`,
  isExclusive: sql`value ->> 'exclusive'`,
};

const insertLabels = prepare((db, { repo, rows, now }: Params<TemplateLabels>) =>
  insertSelect(
    db,
    labels,
    { ...TEMPLATE_COLUMNS, repoId: newRepositoryId(repo), createdAt: now, updatedAt: now },
    sql`from json_each(${rows}) where true order by key`,
  ),
);
