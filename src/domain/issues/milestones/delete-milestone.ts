import { sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { issues, milestones, timelineEntries, type Milestone } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { isMilestoneWithId } from "./find-milestone.ts";

/** Rows of one table that one step changes: a statement of D1 ends after 30 seconds. */
const ROWS_AT_ONCE = 1000;
/** Steps that a request waits for. */
const STEPS_MAX = 200;

/**
 * Deletes a milestone. Its issues and pull requests lose it without an entry in their timelines, as
 * in Gitea; earlier entries stay and name it no more.
 *
 * One step deletes it if few issues have it. Otherwise each step takes it from some of them, so
 * that a request that dies leaves the milestone with the rest, and a repeated one continues.
 *
 * @throws Failure `conflict` if issues are left after `STEPS_MAX` steps; `not_found` if another
 *   request has deleted it meanwhile.
 */
export async function deleteMilestone(
  ctx: Ctx,
  { row }: RepositoryContext,
  { id: milestoneId }: Milestone,
): Promise<void> {
  const { db } = ctx;
  const isThis = isMilestoneWithId(row, milestoneId);
  const { milestoneId: newOfEntry, oldMilestoneId: oldOfEntry } = timelineEntries;
  const some = (column: SQLiteColumn, rowsMax: number) => sql`(
    select rowid
    from ${column.table}
    where ${column} = ${milestoneId}
    limit ${rowsMax}
  )`;
  const isFew = (column: SQLiteColumn) =>
    sql`(select count(*) from ${some(column, ROWS_AT_ONCE + 1)}) <= ${ROWS_AT_ONCE}`;
  const isAmong = (column: SQLiteColumn) => sql`rowid in ${some(column, ROWS_AT_ONCE)}`;
  const finish = {
    deleted: db
      .delete(milestones)
      .where(allOf(isThis, isFew(issues.milestoneId), isFew(newOfEntry), isFew(oldOfEntry)))
      .returning({ id: milestones.id }),
    event: recordIfChanged(ctx, {
      type: "milestone.deleted",
      repoId: row.id,
      ownerId: row.ownerId,
      milestoneId,
    }),
    left: db.select({ id: milestones.id }).from(milestones).where(isThis),
  };
  let { deleted, left } = await batch(db, finish);
  for (let step = 0; left.length > 0; step++) {
    if (step === STEPS_MAX) throw conflict("the milestone has too many issues: repeat the request");
    ({ deleted, left } = await batch(db, {
      issues: db.update(issues).set({ milestoneId: null }).where(isAmong(issues.milestoneId)),
      entries: db.update(timelineEntries).set({ milestoneId: null }).where(isAmong(newOfEntry)),
      formerEntries: db
        .update(timelineEntries)
        .set({ oldMilestoneId: null })
        .where(isAmong(oldOfEntry)),
      ...finish,
    }));
  }
  if (deleted.length === 0) throw notFound();
}
