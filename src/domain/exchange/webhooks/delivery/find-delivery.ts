import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { columnsOf } from "../../../../db/db.ts";
import { type Params, prepare } from "../../../../db/prepared.ts";
import {
  webhookEvents,
  hookDeliveries,
  hooks,
  type HookDelivery,
} from "../../../../db/schema/index.ts";
import { formatContent } from "../../../../events/webhooks/deliveries/format-content.ts";
import type { Payload } from "../../../../events/webhooks/payloads/payload.ts";
import { notFound } from "../../../../lib/failure.ts";
import {
  type HookOwner,
  type HookOwnerArgument,
  hookOwnerArgument,
  isHookOf,
} from "../hooks/hook-owner.ts";

/** A delivery with the content that was sent. */
export interface FoundDelivery {
  readonly delivery: HookDelivery;
  /** The event that the delivery reports. */
  readonly eventId: number;
  readonly method: "POST" | "PUT";
  /** The text that is signed; for a form, the value of its field. */
  readonly content: string;
}

/**
 * Finds a delivery of a hook.
 *
 * @throws Failure `not_found` also for a delivery of a different hook, and for a hook that does not
 * belong to this owner.
 */
export async function findDelivery(
  { db }: Ctx,
  hookOwner: HookOwner,
  hookId: number,
  id: number,
): Promise<FoundDelivery> {
  const [row] = await deliveryOfHook(db, { id, hookId, owner: hookOwnerArgument(hookOwner) });
  if (!row) throw notFound();
  const { type, webhookEventPayload, eventId, ...delivery } = row;
  const takesPayload = type === "gitea" || type === "gogs";
  const payload = { event: delivery.event, body: webhookEventPayload } as Payload;
  return {
    delivery,
    eventId,
    method: type === "matrix" ? "PUT" : "POST",
    content: (takesPayload ? formatContent({ type }, payload) : delivery.requestBody) ?? "",
  };
}

const deliveryOfHook = prepare(
  (db, p: Params<{ id: number; hookId: number; owner: HookOwnerArgument }>) =>
    db
      .select({
        ...columnsOf(hookDeliveries, "delivery"),
        type: hooks.type,
        webhookEventPayload: webhookEvents.payload,
        eventId: webhookEvents.eventId,
      })
      .from(hookDeliveries)
      .innerJoin(hooks, eq(hooks.id, hookDeliveries.hookId))
      .innerJoin(webhookEvents, eq(webhookEvents.id, hookDeliveries.webhookEventId))
      .where(
        and(eq(hookDeliveries.id, p.id), eq(hookDeliveries.hookId, p.hookId), isHookOf(p.owner)),
      ),
);
