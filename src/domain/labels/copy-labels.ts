import type { SQL } from "drizzle-orm";

import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import type { RowSource } from "../../db/row-source.ts";
import { labels } from "../../db/schema/index.ts";

/** Labels that a repository takes from its template, at most: as many as a list shows. */
export const COPIED_LABELS_MAX = 10_000;

/** The statement that gives a new repository labels of its template, for the batch with its first own data. */
export const copyLabels = (
  { db, now }: Ctx,
  { columns, from }: RowSource<typeof labels>,
  repoId: SQL<number>,
) =>
  insertSelect(
    db,
    labels,
    {
      repoId,
      name: columns.name,
      color: columns.color,
      description: columns.description,
      isExclusive: columns.isExclusive,
      archivedAt: columns.archivedAt,
      createdAt: now,
      updatedAt: now,
    },
    from,
  );
