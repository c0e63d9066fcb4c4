import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { issueLabels, labels, repositories, timelineEntries } from "../../../db/schema/index.ts";

/** Rows of one table that a statement deletes: one of D1 ends after 30 seconds. */
const ROWS_AT_ONCE = 1000;

/**
 * The statements that take labels of a former owner off issues of a repository, and delete their
 * entries in timelines: some of each. They do nothing while the repository is that owner's.
 */
export function detachLabels({ db }: Ctx, repoId: number, formerOwnerId: number) {
  const some = (table: typeof issueLabels | typeof timelineEntries) =>
    sql`rowid in (${foreignRows(table, repoId, formerOwnerId)} limit ${ROWS_AT_ONCE})`;
  return [
    db.delete(issueLabels).where(some(issueLabels)),
    db.delete(timelineEntries).where(some(timelineEntries)),
  ] as const;
}

/** The condition that statements of `detachLabels` have something left to do. */
export const hasForeignLabels = (repoId: number, formerOwnerId: number): SQL => sql`(
  exists (${foreignRows(issueLabels, repoId, formerOwnerId)})
  or exists (${foreignRows(timelineEntries, repoId, formerOwnerId)})
)`;

const foreignRows = (
  table: typeof issueLabels | typeof timelineEntries,
  repoId: number,
  formerOwnerId: number,
): SQL => sql`
  select ${table}.rowid
  from ${labels}
  join ${table} on ${table.labelId} = ${labels.id} and ${table.repoId} = ${repoId}
  where ${labels.orgId} = ${formerOwnerId}
    and not exists (
      select 1
      from ${repositories}
      where ${repositories.id} = ${repoId} and ${repositories.ownerId} = ${labels.orgId}
    )`;
