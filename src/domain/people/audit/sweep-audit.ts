import { inArray, lt } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { auditEvents } from "../../../db/schema/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries that one round deletes. */
const ENTRIES_AT_ONCE = 5000;
/** Rounds of one run; the next run continues. */
const ROUNDS_MAX = 10;

/**
 * Deletes entries of the audit log past the configured retention. Safe to repeat and to run
 * concurrently.
 *
 * @param atOnce Entries that one round deletes at most.
 */
export async function sweepAudit(
  { db, now, config }: Ctx,
  atOnce = ENTRIES_AT_ONCE,
): Promise<void> {
  const outdated = db
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(lt(auditEvents.createdAt, now - config.auditDays * DAY_MS))
    .orderBy(auditEvents.createdAt)
    .limit(atOnce);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { meta } = await db.delete(auditEvents).where(inArray(auditEvents.id, outdated));
    if (meta.changes < atOnce) return;
  }
}
