import { and, eq, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { hookDeliveries, hooks } from "../../../../db/schema/index.ts";
import { recordIfChanged } from "../../../../events/record.ts";
import { conflict, notFound } from "../../../../lib/failure.ts";
import { recordAuditIfChanged } from "../../../people/audit/record-audit.ts";
import { eventOwner, belongsTo, type HookOwner } from "./hook-owner.ts";

/** Deliveries deleted by one batch, which bounds the time that the batch takes in the database. */
const DELETED_AT_ONCE = 5000;
/** Batches that delete deliveries only, before the batch that deletes the hook. */
const ROUNDS_MAX = 20;
/**
 * How long the hook stays leased while it is being deleted, so that nothing is delivered to it, in
 * milliseconds.
 */
const CLOSED_MS = 10 * 60 * 1000;

/**
 * Deletes a hook with its deliveries. A hook with very many deliveries is deactivated first; its
 * deliveries are then deleted in batches, and the last batch deletes the hook.
 *
 * Cost: one round trip for up to 5,000 deliveries, and one for each 5,000 more.
 *
 * @param atOnce Deliveries that one batch deletes at most.
 * @throws Failure `not_found` for a hook that does not belong to this owner, `conflict` if too many
 * deliveries remain after 20 batches: the hook stays inactive, and the next call continues.
 */
export async function deleteHook(
  ctx: Ctx,
  hookOwner: HookOwner,
  id: number,
  atOnce = DELETED_AT_ONCE,
): Promise<void> {
  const { db, now } = ctx;
  const isIt = and(eq(hooks.id, id), belongsTo(hookOwner));
  const isSmall = sql`(
    select count(*)
    from (
      select 1 from ${hookDeliveries} where ${hookDeliveries.hookId} = ${id} limit ${atOnce + 1}
    )
  ) <= ${atOnce}`;
  const batchOfDeliveries = db
    .select({ id: hookDeliveries.id })
    .from(hookDeliveries)
    .where(inArray(hookDeliveries.hookId, db.select({ id: hooks.id }).from(hooks).where(isIt)))
    .limit(atOnce);
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    const { deleted, remaining } = await batch(db, {
      deleted: db.delete(hooks).where(and(isIt, isSmall)).returning({ id: hooks.id }),
      event: recordIfChanged(ctx, { type: "hook.deleted", ...eventOwner(hookOwner), hookId: id }),
      audit: recordAuditIfChanged(ctx, {
        kind: "hook.deleted",
        ...eventOwner(hookOwner),
        target: String(id),
      }),
      // The remaining statements have an effect only if the hook still exists, because it has too
      // many deliveries. A run that is delivering to it loses its lease.
      remaining: db
        .update(hooks)
        .set({ isActive: false, leasedUntil: now + CLOSED_MS, updatedAt: now })
        .where(isIt)
        .returning({ id: hooks.id }),
      deliveries: db.delete(hookDeliveries).where(inArray(hookDeliveries.id, batchOfDeliveries)),
    });
    if (deleted.length > 0) return;
    if (remaining.length === 0) throw notFound();
  }
  throw conflict("the webhook is switched off, but has too many deliveries left: delete it again");
}
