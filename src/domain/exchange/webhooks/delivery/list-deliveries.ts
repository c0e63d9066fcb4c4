import { and, count, desc, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { type Params, prepare } from "../../../../db/prepared.ts";
import {
  webhookEvents,
  hookDeliveries,
  hooks,
  type DeliveryStatus,
  type HookDelivery,
} from "../../../../db/schema/index.ts";
import type { DeliveredEvent } from "../../../../events/webhooks/payloads/hook-event.ts";
import { notFound } from "../../../../lib/failure.ts";
import type { Listed, Slice } from "../../../slice.ts";
import {
  type HookOwner,
  type HookOwnerArgument,
  hookOwnerArgument,
  isHookOf,
} from "../hooks/hook-owner.ts";

/** A delivery without the content of its request and response, which may be long. */
export interface DeliveryEntry {
  readonly delivery: Omit<
    HookDelivery,
    | "webhookEventId"
    | "isArchived"
    | "requestUrl"
    | "requestHeaders"
    | "requestBody"
    | "responseHeaders"
    | "responseBody"
  >;
  /** The event that the delivery reports. */
  readonly eventId: number;
}

/** Restricts the listed deliveries; all of them if empty. */
export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly event?: DeliveredEvent | undefined;
}

/** The columns of a delivery in a list. */
export const DELIVERY_COLUMNS = {
  id: hookDeliveries.id,
  hookId: hookDeliveries.hookId,
  uuid: hookDeliveries.uuid,
  event: hookDeliveries.event,
  status: hookDeliveries.status,
  isRequested: hookDeliveries.isRequested,
  attemptCount: hookDeliveries.attemptCount,
  nextAttemptAt: hookDeliveries.nextAttemptAt,
  responseStatus: hookDeliveries.responseStatus,
  failure: hookDeliveries.failure,
  durationMs: hookDeliveries.durationMs,
  createdAt: hookDeliveries.createdAt,
  updatedAt: hookDeliveries.updatedAt,
};

/**
 * Lists the deliveries of a hook, newest first.
 *
 * @throws Failure `not_found` for a hook that does not belong to this owner.
 */
export async function listDeliveries(
  { db }: Ctx,
  hookOwner: HookOwner,
  hookId: number,
  filter: DeliveryFilter,
  { size, offset }: Slice,
): Promise<Listed<DeliveryEntry>> {
  const { status, event } = filter;
  const listed = { hookId, event };
  const { found, items, counts } = await batch(db, {
    found: selectIdOfHook(db, { hookId, owner: hookOwnerArgument(hookOwner) }),
    items: deliveriesOfHook(db, { ...listed, size, offset }, { status }),
    counts: deliveryCount(db, listed, { status }),
  });
  if (found.length === 0) throw notFound();
  return {
    items: items.map(({ eventId, ...delivery }) => ({ delivery, eventId })),
    total: counts[0]?.total ?? 0,
  };
}

/** Selects the id of a hook, if it belongs to an owner. */
export const selectIdOfHook = prepare(
  (db, p: Params<{ hookId: number; owner: HookOwnerArgument }>) =>
    db
      .select({ id: hooks.id })
      .from(hooks)
      .where(and(eq(hooks.id, p.hookId), isHookOf(p.owner))),
);

type HookDeliveryFilter = Pick<DeliveryFilter, "event"> & { hookId: number };

/** The shape of a list: its status is a part of the SQL, so that the index of failures serves. */
type OfStatus = { readonly status?: DeliveryStatus | undefined };

const isListed = ({ hookId, event }: Params<HookDeliveryFilter>, { status }: OfStatus) =>
  and(
    eq(hookDeliveries.hookId, hookId),
    status && sql`${hookDeliveries.status} = ${sql.raw(`'${status}'`)}`,
    event && eq(hookDeliveries.event, event),
  );

const deliveriesOfHook = prepare((db, p: Params<HookDeliveryFilter & Slice>, shape: OfStatus) =>
  db
    .select({ ...DELIVERY_COLUMNS, eventId: webhookEvents.eventId })
    .from(hookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, hookDeliveries.webhookEventId))
    .where(isListed(p, shape))
    .orderBy(desc(hookDeliveries.id))
    .limit(p.size)
    .offset(p.offset),
);

const deliveryCount = prepare((db, p: Params<HookDeliveryFilter>, shape: OfStatus) =>
  db
    .select({ total: count().as("total") })
    .from(hookDeliveries)
    .where(isListed(p, shape)),
);
