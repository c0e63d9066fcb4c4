import { and, eq, inArray, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hookDeliveries, hooks } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import { eventOwner, belongsTo, type HookOwner } from "./hook-owner.ts";

/** Deliveries that one batch deletes: the database has only so much time for it. */
const DELETED_AT_ONCE = 5000;
/** Batches of deliveries that go before the one with the hook itself. */
const ROUNDS_MAX = 20;
/** How long nobody delivers to a hook that is being deleted, in milliseconds. */
const CLOSED_MS = 10 * 60 * 1000;

/**
 * Deletes a hook with its deliveries. One that has very many is switched off first and loses its
 * deliveries batch by batch, until the rest goes with it.
 *
 * Cost: one round for up to 5,000 deliveries, and one for each 5,000 more.
 *
 * @param atOnce Deliveries that one batch deletes at most.
 * @throws Failure `not_found` for one that is not at this place, `conflict` for one that still has too many
 * deliveries after 20 batches: it stays switched off, and the next call goes on.
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
  const some = db
    .select({ id: hookDeliveries.id })
    .from(hookDeliveries)
    .where(inArray(hookDeliveries.hookId, db.select({ id: hooks.id }).from(hooks).where(isIt)))
    .limit(atOnce);
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    const [deleted, , left] = await db.batch([
      db.delete(hooks).where(and(isIt, isSmall)).returning({ id: hooks.id }),
      recordIfChanged(ctx, { type: "hook.deleted", ...eventOwner(hookOwner), hookId: id }),
      // The rest does something only if it is still there, which one with many deliveries is. Whoever
      // delivers to it right now loses it.
      db
        .update(hooks)
        .set({ isActive: false, leasedUntil: now + CLOSED_MS, updatedAt: now })
        .where(isIt)
        .returning({ id: hooks.id }),
      db.delete(hookDeliveries).where(inArray(hookDeliveries.id, some)),
    ]);
    if (deleted.length > 0) return;
    if (left.length === 0) throw notFound();
  }
  throw conflict("the webhook is switched off, but has too many deliveries left: delete it again");
}
