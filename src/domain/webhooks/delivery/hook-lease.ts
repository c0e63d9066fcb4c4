import { and, eq, inArray, isNotNull, isNull, lte, min, or, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hookDeliveries, hooks, type Hook } from "../../../db/schema/index.ts";
import { Semaphore } from "../../../storage/semaphore.ts";
import { isApproved } from "../hooks/is-approved.ts";
import { type DueDelivery, hasDue, selectDue } from "./due-delivery.ts";

/**
 * Longer than the longest time between two writes under a lease: waiting for a request slot, and the
 * request.
 */
export const LEASE_MS = 60_000;

/**
 * The exclusive right to deliver to a hook, which keeps its deliveries in order. It expires, so a run that
 * is interrupted loses it.
 */
export interface HookLease {
  /** The hook's row as it was last read. */
  hook: Hook;
  /**
   * The time at which the lease expires, which also identifies its holder. Undefined once the lease is
   * lost.
   */
  token: number | undefined;
  /** Serializes writes, since each write replaces the token that the next one needs. */
  readonly writes: Semaphore;
  /** Whether an attempt has succeeded under this lease: then several requests are sent concurrently. */
  isProven: boolean;
  /** Whether a delivery was retried, or is to be: then a message is queued for its next attempt. */
  hasRetries: boolean;
}

const UNSENT = {
  paused: "not sent: the webhook is paused, because its deliveries failed for too long",
  inactive: "not sent: the webhook is not active",
  unapproved: "not sent: whoever set the webhook up may not administer its place any more",
} as const;

/** Matches any number of hooks with one bound value: a statement binds at most 100. */
const isAmong = (hookIds: readonly number[]): SQL =>
  sql`${hooks.id} in (select value from json_each(${JSON.stringify(hookIds)}))`;

const isLeasedHook = (hookId: number, token: number): SQL | undefined =>
  and(eq(hooks.id, hookId), eq(hooks.leasedUntil, token));

/** Whether a hook receives deliveries other than tests and redeliveries. */
export const isEnabled = ({ isActive, pausedAt }: Hook): boolean => isActive && pausedAt === null;

export const isBackingOff = ({ backoffUntil }: Hook, now: number): boolean =>
  backoffUntil !== null && backoffUntil > now;

/** Whether the hook of the current delivery is leased with this token. */
export const holdsLease = (token: number): SQL => sql`exists (
  select 1
  from ${hooks}
  where ${hooks.id} = ${hookDeliveries.hookId} and ${hooks.leasedUntil} = ${token}
)`;

/**
 * The statement that gives up pending deliveries of hooks that are inactive, paused or not approved, except
 * for tests and redeliveries.
 */
export function giveUpUnsendable(
  { db }: Ctx,
  hookIds: readonly number[],
  token: number,
  now: number,
) {
  const reason = sql`(
    select case
      when not ${hooks.isActive} then ${UNSENT.inactive}
      when ${hooks.pausedAt} is not null then ${UNSENT.paused}
      else ${UNSENT.unapproved}
    end
    from ${hooks}
    where ${hooks.id} = ${hookDeliveries.hookId}
  )`;
  // Deliveries are read only for these hooks, which are few.
  const unsendableHooks = db
    .select({ id: hooks.id })
    .from(hooks)
    .where(
      and(
        isAmong(hookIds),
        eq(hooks.leasedUntil, token),
        or(eq(hooks.isActive, false), isNotNull(hooks.pausedAt), sql`not ${isApproved}`),
      ),
    );
  return db
    .update(hookDeliveries)
    .set({ status: "failed", nextAttemptAt: null, failure: reason, updatedAt: now })
    .where(
      and(
        inArray(hookDeliveries.hookId, unsendableHooks),
        eq(hookDeliveries.status, "pending"),
        eq(hookDeliveries.isRequested, false),
      ),
    );
}

/**
 * Acquires leases on hooks with due deliveries, skipping hooks that are leased or backing off.
 *
 * Cost: one round trip, whatever the number of hooks.
 */
export async function acquireLeases(
  ctx: Ctx,
  hookIds: readonly number[],
  now: number,
): Promise<{ lease: HookLease; due: DueDelivery[] }[]> {
  const { db } = ctx;
  const token = now + LEASE_MS;
  const [leased, , due] = await db.batch([
    db
      .update(hooks)
      .set({ leasedUntil: token })
      .where(
        and(
          isAmong(hookIds),
          or(isNull(hooks.leasedUntil), lte(hooks.leasedUntil, now)),
          or(isNull(hooks.backoffUntil), lte(hooks.backoffUntil, now)),
          hasDue(now),
        ),
      )
      .returning(),
    giveUpUnsendable(ctx, hookIds, token, now),
    selectDue(db, hookIds, token, now),
  ]);
  return leased.map((hook) => ({
    lease: {
      hook,
      token,
      writes: new Semaphore(1, () => () => {}),
      isProven: false,
      hasRetries: false,
    },
    due: due.filter(({ hookId }) => hookId === hook.id),
  }));
}

/** The work left for a hook: deliveries that are due now, or the time of the next one. */
export interface RemainingWork {
  due: DueDelivery[];
  /** Null if no delivery is pending. */
  nextAt: number | null;
}

/**
 * Releases a lease, unless more deliveries are due. The check and the release are one statement, so a
 * delivery that is added concurrently is not missed.
 *
 * @param isEnd Releases the lease even if deliveries are due.
 */
export async function releaseLease(
  ctx: Ctx,
  lease: HookLease,
  now: number,
  isEnd: boolean,
): Promise<RemainingWork> {
  const {
    hook: { id },
    token,
  } = lease;
  if (token === undefined) return { due: [], nextAt: null };
  const { db } = ctx;
  const [, released, [pending], due, [hook]] = await db.batch([
    giveUpUnsendable(ctx, [id], token, now),
    db
      .update(hooks)
      .set({ leasedUntil: null })
      .where(and(isLeasedHook(id, token), isEnd ? undefined : sql`not ${hasDue(now)}`))
      .returning({ backoffUntil: hooks.backoffUntil }),
    db
      .select({ nextAt: min(hookDeliveries.nextAttemptAt).as("next_at") })
      .from(hookDeliveries)
      .where(
        and(
          eq(hookDeliveries.hookId, id),
          isNotNull(hookDeliveries.nextAttemptAt),
          // Needed only if the lease was released.
          sql`exists (
            select 1 from ${hooks} where ${hooks.id} = ${id} and ${hooks.leasedUntil} is null
          )`,
        ),
      ),
    selectDue(db, [id], token, now),
    db.select().from(hooks).where(eq(hooks.id, id)),
  ]);
  // The hook may have been edited meanwhile.
  if (hook) lease.hook = hook;
  const [releasedHook] = released;
  const nextAt = pending?.nextAt ?? null;
  if (!releasedHook || nextAt === null) return { due, nextAt: null };
  return { due, nextAt: Math.max(nextAt, releasedHook.backoffUntil ?? 0) };
}
