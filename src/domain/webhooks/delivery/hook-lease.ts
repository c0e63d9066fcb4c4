import { and, eq, inArray, isNotNull, isNull, lte, min, or, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { hookDeliveries, hooks, type Hook } from "../../../db/schema/index.ts";
import { Semaphore } from "../../../storage/semaphore.ts";
import { isApproved } from "../hooks/is-approved.ts";
import { type DueDelivery, hasDue, selectDue } from "./due-delivery.ts";

/** Longer than whatever happens between two writes of a lane: the wait for a request and the request. */
export const LEASE_MS = 60_000;

/**
 * The right to deliver to a hook, which one at a time has, so that it hears things in their order. It
 * is lent for a while: whoever is cut off loses it.
 */
export interface HookLease {
  /** As it was last seen. */
  hook: Hook;
  /** The moment until which it is lent, by which the lender is known. Undefined once it is lost. */
  token: number | undefined;
  /** One write after another, each knows the token that the last one left. */
  readonly writes: Semaphore;
  /** Whether an attempt succeeded since it was lent: then several go at once. */
  isProven: boolean;
  /** Whether something was tried again since, or is to be: then there is something to come back for. */
  hasRetries: boolean;
}

const UNSENT = {
  paused: "not sent: the webhook is paused, because its deliveries failed for too long",
  inactive: "not sent: the webhook is not active",
  unapproved: "not sent: whoever set the webhook up may not administer its place any more",
} as const;

/** However many there are: a statement binds a hundred values only. */
const isAmong = (hookIds: readonly number[]): SQL =>
  sql`${hooks.id} in (select value from json_each(${JSON.stringify(hookIds)}))`;

const holds = (hookId: number, token: number): SQL | undefined =>
  and(eq(hooks.id, hookId), eq(hooks.leasedUntil, token));

/** Whether a hook gets what nobody asked for by hand. */
export const isEnabled = ({ isActive, pausedAt }: Hook): boolean => isActive && pausedAt === null;

export const isBackingOff = ({ backoffUntil }: Hook, now: number): boolean =>
  backoffUntil !== null && backoffUntil > now;

/** Whether the row in question is of a hook that this token was given for. */
export const holdsLease = (token: number): SQL => sql`exists (
  select 1
  from ${hooks}
  where ${hooks.id} = ${hookDeliveries.hookId} and ${hooks.leasedUntil} = ${token}
)`;

/** The statement that gives up what waits for hooks that are paused or not active, unless it was asked for. */
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
  // Of hooks that get all, which most are, no delivery is read.
  const closed = db
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
        inArray(hookDeliveries.hookId, closed),
        eq(hookDeliveries.status, "pending"),
        eq(hookDeliveries.isRequested, false),
      ),
    );
}

/**
 * Borrows the hooks for which something is to be sent, as far as nobody has them and they are not held.
 *
 * Cost: one call to the database, whatever the number of hooks.
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

/** What is left of a lane: what else is to be sent by now, or when there will be something. */
export interface RemainingWork {
  due: DueDelivery[];
  /** Null where nothing waits. */
  nextAt: number | null;
}

/**
 * Gives a lane back, unless there is more to send by now: what comes in between is not overlooked, since
 * the look and the return are one.
 *
 * @param isEnd Give it back even so.
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
  const [, returned, [waiting], due, [hook]] = await db.batch([
    giveUpUnsendable(ctx, [id], token, now),
    db
      .update(hooks)
      .set({ leasedUntil: null })
      .where(and(holds(id, token), isEnd ? undefined : sql`not ${hasDue(now)}`))
      .returning({ backoffUntil: hooks.backoffUntil }),
    db
      .select({ nextAt: min(hookDeliveries.nextAttemptAt).as("next_at") })
      .from(hookDeliveries)
      .where(
        and(
          eq(hookDeliveries.hookId, id),
          isNotNull(hookDeliveries.nextAttemptAt),
          // Else nobody asks.
          sql`exists (
            select 1 from ${hooks} where ${hooks.id} = ${id} and ${hooks.leasedUntil} is null
          )`,
        ),
      ),
    selectDue(db, [id], token, now),
    db.select().from(hooks).where(eq(hooks.id, id)),
  ]);
  // Somebody may have activated it or changed where it leads.
  if (hook) lease.hook = hook;
  const [left] = returned;
  const nextAt = waiting?.nextAt ?? null;
  if (!left || nextAt === null) return { due, nextAt: null };
  return { due, nextAt: Math.max(nextAt, left.backoffUntil ?? 0) };
}
