import { and, count, desc, eq, gte, gt, inArray, lte, not, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hookDeliveries, hooks, type HookDelivery } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import { findDelivery } from "./find-delivery.ts";
import { eventOwner, belongsTo, type HookOwner } from "../hooks/hook-owner.ts";
import { DELIVERY_COLUMNS, type DeliveryEntry } from "./list-deliveries.ts";

/** Deliveries that one statement takes up again. */
const TAKEN_AT_ONCE = 500;
/** Deliveries that one request takes up again. */
const TAKEN_MAX = 10_000;

/**
 * Sends a delivery once more, under its id and with what it told at first, also to a hook that is not
 * active. One that waits for another attempt is sent now, and its attempts are counted anew.
 *
 * @throws Failure `not_found` for one that is not there, `conflict` for one that is being sent anyway.
 */
export async function redeliver(
  ctx: Ctx,
  hookOwner: HookOwner,
  hookId: number,
  id: number,
): Promise<DeliveryEntry> {
  const { eventId } = await findDelivery(ctx, hookOwner, hookId, id);
  const isOnItsWay = and(
    eq(hookDeliveries.status, "pending"),
    lte(hookDeliveries.nextAttemptAt, ctx.now),
    sql`not ${isBackingOff(ctx, hookId)}`,
  ) as SQL;
  const [taken] = await ctx.db.batch([
    ctx.db
      .update(hookDeliveries)
      .set(anew(ctx))
      .where(and(eq(hookDeliveries.id, id), eq(hookDeliveries.hookId, hookId), not(isOnItsWay)))
      .returning(DELIVERY_COLUMNS),
    ...recordRedelivery(ctx, hookOwner, hookId),
  ]);
  const [delivery] = taken;
  if (!delivery) throw conflict("the delivery is on its way");
  ctx.defer(ctx.eventQueues.deliverSoon([hookId]));
  return { delivery, eventId };
}

/**
 * Sends once more what failed, the newest first.
 *
 * @param since    Only what was told at that moment or later, in milliseconds.
 * @param takenMax Deliveries at most, whole statements of them.
 * @returns How many there are: as many as at most, where there may be more.
 * @throws Failure `not_found` for a hook that is not at this place.
 */
export async function redeliverFailed(
  ctx: Ctx,
  hookOwner: HookOwner,
  hookId: number,
  since: number,
  takenMax = TAKEN_MAX,
): Promise<number> {
  const { db } = ctx;
  const isFailed = and(
    eq(hookDeliveries.hookId, hookId),
    eq(hookDeliveries.status, "failed"),
    gte(hookDeliveries.createdAt, since),
  );
  const [[hook], [counted]] = await db.batch([
    db
      .select({ id: hooks.id })
      .from(hooks)
      .where(and(eq(hooks.id, hookId), belongsTo(hookOwner))),
    db
      .select({ total: count().as("total") })
      .from(
        db
          .select({ id: hookDeliveries.id })
          .from(hookDeliveries)
          .where(isFailed)
          .orderBy(desc(hookDeliveries.id))
          .limit(takenMax)
          .as("failed"),
      ),
  ]);
  if (!hook) throw notFound();
  const total = counted?.total ?? 0;
  if (total === 0) return 0;
  const take = () =>
    db
      .update(hookDeliveries)
      .set(anew(ctx))
      .where(
        inArray(
          hookDeliveries.id,
          // The newest first, so that no statement passes over what is older than `since` but the last.
          db
            .select({ id: hookDeliveries.id })
            .from(hookDeliveries)
            .where(isFailed)
            .orderBy(desc(hookDeliveries.id))
            .limit(TAKEN_AT_ONCE),
        ),
      );
  const more = Array.from({ length: Math.ceil(total / TAKEN_AT_ONCE) - 1 }, take);
  const results = await db.batch([take(), ...recordRedelivery(ctx, hookOwner, hookId), ...more]);
  ctx.defer(ctx.eventQueues.deliverSoon([hookId]));
  const [first, , , ...rest] = results as D1Result[];
  return [first, ...rest].reduce((sum, result) => sum + (result?.meta.changes ?? 0), 0);
}

/** What a delivery is that begins anew. */
const anew = ({ now }: Ctx): Partial<HookDelivery> => ({
  status: "pending",
  isRequested: true,
  attemptCount: 0,
  nextAttemptAt: now,
  updatedAt: now,
});

/** Whether a hook's receiver is spared for a while. */
const isBackingOff = ({ db, now }: Ctx, hookId: number): SQL =>
  sql`exists ${db
    .select({ id: hooks.id })
    .from(hooks)
    .where(and(eq(hooks.id, hookId), gt(hooks.backoffUntil, now)))}`;

/** The statements behind one that takes deliveries up again: they do something if it did. */
const recordRedelivery = (ctx: Ctx, hookOwner: HookOwner, hookId: number) =>
  [
    recordIfChanged(ctx, { type: "hook.redelivered", ...eventOwner(hookOwner), hookId }),
    ctx.db
      .update(hooks)
      .set({ backoffUntil: null })
      .where(and(eq(hooks.id, hookId), sql`changes() > 0`)),
  ] as const;
