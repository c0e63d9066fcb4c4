import { and, count, desc, eq, gte, gt, inArray, lte, not, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { hookDeliveries, hooks, type HookDelivery } from "../../../../db/schema/index.ts";
import { recordIfChanged } from "../../../../events/record.ts";
import { conflict, notFound } from "../../../../lib/failure.ts";
import { findEventOfDelivery } from "./find-delivery.ts";
import { eventOwner, hookOwnerArgument, type HookOwner } from "../hooks/hook-owner.ts";
import { DELIVERY_COLUMNS, type DeliveryEntry, selectIdOfHook } from "./list-deliveries.ts";

/** Deliveries that one statement requeues. */
const REQUEUED_AT_ONCE = 500;
/** Deliveries that one request requeues. */
const REDELIVERED_MAX = 10_000;

/**
 * Redelivers a delivery under the same id and with its original payload, even if the hook is
 * inactive. A pending delivery is sent now instead of at its next attempt, and its attempt count
 * restarts.
 *
 * @throws Failure `not_found` if the delivery does not exist, `conflict` if it is due already.
 */
export async function redeliver(
  ctx: Ctx,
  hookOwner: HookOwner,
  hookId: number,
  id: number,
): Promise<DeliveryEntry> {
  const eventId = await findEventOfDelivery(ctx, hookOwner, hookId, id);
  const isDue = and(
    eq(hookDeliveries.status, "pending"),
    lte(hookDeliveries.nextAttemptAt, ctx.now),
    sql`not ${isBackingOff(ctx, hookId)}`,
  ) as SQL;
  const [requeuedRows] = await ctx.db.batch([
    ctx.db
      .update(hookDeliveries)
      .set(requeued(ctx))
      .where(and(eq(hookDeliveries.id, id), eq(hookDeliveries.hookId, hookId), not(isDue)))
      .returning(DELIVERY_COLUMNS),
    ...recordRedelivery(ctx, hookOwner, hookId),
  ]);
  const [delivery] = requeuedRows;
  if (!delivery) throw conflict("the delivery is on its way");
  ctx.defer(ctx.eventQueues.deliverSoon([hookId]));
  return { delivery, eventId };
}

/**
 * Redelivers failed deliveries, newest first.
 *
 * @param since    Only deliveries created at this time or later, in milliseconds.
 * @param countMax Deliveries at most, rounded up to whole statements.
 * @returns The number of requeued deliveries; if it equals the maximum, more may remain.
 * @throws Failure `not_found` for a hook that does not belong to this owner.
 */
export async function redeliverFailed(
  ctx: Ctx,
  hookOwner: HookOwner,
  hookId: number,
  since: number,
  countMax = REDELIVERED_MAX,
): Promise<number> {
  const { db } = ctx;
  const isFailed = and(
    eq(hookDeliveries.hookId, hookId),
    // As text, so that the index of those serves.
    sql`${hookDeliveries.status} = 'failed'`,
    gte(hookDeliveries.createdAt, since),
  );
  const { found, counts } = await batch(db, {
    found: selectIdOfHook(db, { hookId, owner: hookOwnerArgument(hookOwner) }),
    counts: db
      .select({ total: count().as("total") })
      .from(
        db
          .select({ id: hookDeliveries.id })
          .from(hookDeliveries)
          .where(isFailed)
          .orderBy(desc(hookDeliveries.id))
          .limit(countMax)
          .as("failed"),
      ),
  });
  if (found.length === 0) throw notFound();
  const total = counts[0]?.total ?? 0;
  if (total === 0) return 0;
  const requeue = () =>
    db
      .update(hookDeliveries)
      .set(requeued(ctx))
      .where(
        inArray(
          hookDeliveries.id,
          // Newest first, so that only the last statement reads past rows older than `since`.
          db
            .select({ id: hookDeliveries.id })
            .from(hookDeliveries)
            .where(isFailed)
            .orderBy(desc(hookDeliveries.id))
            .limit(REQUEUED_AT_ONCE),
        ),
      );
  const more = Array.from({ length: Math.ceil(total / REQUEUED_AT_ONCE) - 1 }, requeue);
  const { first, rest } = await batch(db, {
    first: requeue(),
    records: recordRedelivery(ctx, hookOwner, hookId),
    rest: more,
  });
  ctx.defer(ctx.eventQueues.deliverSoon([hookId]));
  return [first, ...rest].reduce((sum, { meta }) => sum + meta.changes, 0);
}

/** The columns of a delivery that starts over. */
const requeued = ({ now }: Ctx): Partial<HookDelivery> => ({
  status: "pending",
  isRequested: true,
  attemptCount: 0,
  nextAttemptAt: now,
  updatedAt: now,
});

/** Whether a hook is backing off. */
const isBackingOff = ({ db, now }: Ctx, hookId: number): SQL =>
  sql`exists ${db
    .select({ id: hooks.id })
    .from(hooks)
    .where(and(eq(hooks.id, hookId), gt(hooks.backoffUntil, now)))}`;

/**
 * The statements that follow an update of deliveries: they have an effect only if it changed a row.
 */
const recordRedelivery = (ctx: Ctx, hookOwner: HookOwner, hookId: number) =>
  [
    recordIfChanged(ctx, { type: "hook.redelivered", ...eventOwner(hookOwner), hookId }),
    ctx.db
      .update(hooks)
      .set({ backoffUntil: null })
      .where(and(eq(hooks.id, hookId), sql`changes() > 0`)),
  ] as const;
