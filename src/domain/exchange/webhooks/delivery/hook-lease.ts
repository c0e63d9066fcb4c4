import { and, eq, inArray, isNotNull, isNull, lte, or, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import type { Database } from "../../../../db/db.ts";
import { type Params, prepareAll } from "../../../../db/prepared.ts";
import { hookDeliveries, hooks, type Hook } from "../../../../db/schema/index.ts";
import { isApproved } from "../hooks/is-approved.ts";
import type { AttemptRecord } from "./attempt-record.ts";
import type { PayloadRow } from "./delivery-contents.ts";
import {
  type DueDelivery,
  type DueRange,
  hasDue,
  ofHookMaxFor,
  selectDue,
  selectDuePayloads,
} from "./due-delivery.ts";

/**
 * Longer than the longest time between two writes under a lease: waiting for a connection, the
 * request, and the write of its result together with others.
 */
export const LEASE_MS = 60_000;

/**
 * The exclusive right to deliver to a hook, which keeps its deliveries in order. It expires, so a
 * run that is interrupted loses it.
 */
export interface HookLease {
  /** The hook's row as it was last read. */
  read: Hook;
  /** The same after the attempts that are not stored yet. */
  hook: Hook;
  /**
   * The time at which the lease expires, which also identifies its holder. Undefined once the lease
   * is lost.
   */
  token: number | undefined;
  /** Attempts that are not stored yet, in order. */
  unstored: AttemptRecord[];
  /**
   * Whether a success under this lease is stored: then several requests are sent concurrently, and
   * some before the results of others are stored.
   */
  isProven: boolean;
  /** Whether a delivery was retried, or is to be: then a message is queued for its next attempt. */
  hasRetries: boolean;
}

const UNSENT = {
  paused: "not sent: the webhook is paused, because its deliveries failed for too long",
  inactive: "not sent: the webhook is not active",
  unapproved: "not sent: the creator of the webhook may no longer administer its owner",
} as const;

/** Whether a hook receives deliveries other than tests and redeliveries. */
export const isEnabled = ({ isActive, pausedAt }: Hook): boolean => isActive && pausedAt === null;

export const isBackingOff = ({ backoffUntil }: Hook, now: number): boolean =>
  backoffUntil !== null && backoffUntil > now;

/** Hooks that the caller may have leased. */
interface LeasedHooks extends Params<Pick<DueRange, "hookIds" | "now">> {
  /** The condition that it still has. */
  readonly isLeased: SQL;
}

/**
 * The statement that gives up pending deliveries of hooks that are inactive, paused or not
 * approved, except for tests and redeliveries.
 */
export function giveUpUnsendable(db: Database, { hookIds, isLeased, now }: LeasedHooks) {
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
        inArray(hooks.id, hookIds),
        isLeased,
        or(eq(hooks.isActive, false), isNotNull(hooks.pausedAt), sql`not ${isApproved}`),
      ),
    );
  const pending = db
    .select({ id: hookDeliveries.id })
    .from(hookDeliveries)
    .where(
      and(inArray(hookDeliveries.hookId, unsendableHooks), isNotNull(hookDeliveries.nextAttemptAt)),
    );
  return db
    .update(hookDeliveries)
    .set({ status: "failed", nextAttemptAt: null, failure: reason, updatedAt: now })
    .where(and(inArray(hookDeliveries.id, pending), eq(hookDeliveries.isRequested, false)));
}

/**
 * Acquires leases on hooks with due deliveries, skipping hooks that are leased or backing off.
 *
 * Cost: one round trip, whatever the number of hooks.
 */
export async function acquireLeases(
  { db }: Ctx,
  hookIds: readonly number[],
  now: number,
): Promise<{ hooks: { lease: HookLease; due: DueDelivery[] }[]; payloads: PayloadRow[] }> {
  const token = now + LEASE_MS;
  const ofHookMax = ofHookMaxFor(hookIds.length);
  const range = { hookIds, token, now, ofHookMax, knownIds: [] };
  const { leased, due, payloads } = await batch(db, leaseAndSelectDue(db, range));
  const ofHook = Map.groupBy(due, ({ hookId }) => hookId);
  const opened = leased.map((hook) => ({
    lease: { read: hook, hook, token, unstored: [], isProven: false, hasRetries: false },
    due: ofHook.get(hook.id) ?? [],
  }));
  return { hooks: opened, payloads };
}

const leaseAndSelectDue = prepareAll((db, range: Params<DueRange>) => ({
  leased: db
    .update(hooks)
    .set({ leasedUntil: range.token })
    .where(
      and(
        inArray(hooks.id, range.hookIds),
        or(isNull(hooks.leasedUntil), lte(hooks.leasedUntil, range.now)),
        or(isNull(hooks.backoffUntil), lte(hooks.backoffUntil, range.now)),
        hasDue(range.now),
      ),
    )
    .returning(),
  givenUp: giveUpUnsendable(db, { ...range, isLeased: eq(hooks.leasedUntil, range.token) }),
  due: selectDue(db, range),
  payloads: selectDuePayloads(db, range),
}));
