import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import { labels } from "../../db/schema/index.ts";
import { type LabelTemplateName, templateLabels } from "../templates/label-templates.ts";

/** The statement that gives a new repository the labels of a template, for the batch that inserts it. */
export const insertTemplateLabels = (
  { db, now }: Ctx,
  repoId: SQL<number>,
  template: LabelTemplateName,
) =>
  insertSelect(
    db,
    labels,
    {
      repoId,
      name: sql`value ->> 'name'`,
      color: sql`value ->> 'color'`,
      description: sql`value ->> 'description'`,
      isExclusive: sql`value ->> 'exclusive'`,
      createdAt: now,
      updatedAt: now,
    },
    sql`from json_each(${JSON.stringify(templateLabels(template))}) where true order by key`,
  );
