import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { labels } from "../../../db/schema/index.ts";

/** Labels that a repository takes from its template, at most: as many as a list shows. */
const LABELS_MAX = 10_000;

/**
 * The statement that gives a new repository the labels of its template, for the batch that inserts
 * it.
 */
export const copyLabels = ({ db, now }: Ctx, templateId: number, repoId: SQL<number>) =>
  insertSelect(
    db,
    labels,
    {
      repoId,
      name: labels.name,
      color: labels.color,
      description: labels.description,
      isExclusive: labels.isExclusive,
      archivedAt: labels.archivedAt,
      createdAt: now,
      updatedAt: now,
    },
    sql`
      from ${labels}
      where ${labels.repoId} = ${templateId}
      order by ${labels.id}
      limit ${LABELS_MAX}`,
  );
