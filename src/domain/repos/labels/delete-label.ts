import { sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { allOf } from "../../../db/db.ts";
import { issueLabels, labels, timelineEntries } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict } from "../../../lib/failure.ts";
import { isLabelWithId, labelEventOwner, type LabelOwner } from "./label-owner.ts";

/** Rows of one table that one step deletes: a statement of D1 ends after 30 seconds. */
const ROWS_AT_ONCE = 1000;
/** Steps that a request waits for. */
const STEPS_MAX = 200;

/**
 * Deletes a label, takes it off its issues, and deletes its entries in their timelines. Idempotent:
 * a label that does not exist, or that another owner has, is left alone.
 *
 * One step deletes it if few issues have had it. Otherwise each step takes it off some of them, so
 * that a request that dies leaves the label with the rest, and a repeated one continues.
 *
 * @throws Failure `conflict` if issues are left after `STEPS_MAX` steps.
 */
export async function deleteLabel(ctx: Ctx, owner: LabelOwner, labelId: number): Promise<void> {
  const { db } = ctx;
  const isThis = isLabelWithId(owner, labelId);
  const some = (table: typeof issueLabels | typeof timelineEntries, size: number) => sql`
    select rowid
    from ${table}
    where ${table.labelId} = ${labelId}
    limit ${size}`;
  const isFew = (table: typeof issueLabels | typeof timelineEntries) => sql`(
    select count(*) from (${some(table, ROWS_AT_ONCE + 1)})
  ) <= ${ROWS_AT_ONCE}`;
  const isOwned = sql`exists (select 1 from ${labels} where ${isThis})`;
  const deleteSome = (table: typeof issueLabels | typeof timelineEntries) =>
    db.delete(table).where(allOf(isOwned, sql`rowid in (${some(table, ROWS_AT_ONCE)})`));
  const finish = {
    deleted: db.delete(labels).where(allOf(isThis, isFew(issueLabels), isFew(timelineEntries))),
    event: recordIfChanged(ctx, { type: "label.deleted", ...labelEventOwner(owner), labelId }),
    left: db.select({ id: labels.id }).from(labels).where(isThis),
  };
  let { left } = await batch(db, finish);
  for (let step = 0; left.length > 0; step++) {
    if (step === STEPS_MAX) throw conflict("the label has too many issues: repeat the request");
    ({ left } = await batch(db, {
      entries: deleteSome(timelineEntries),
      attached: deleteSome(issueLabels),
      ...finish,
    }));
  }
}
