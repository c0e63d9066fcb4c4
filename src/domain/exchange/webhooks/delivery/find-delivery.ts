import { and, eq, sql } from "drizzle-orm";

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
import { readContent } from "./delivery-archive.ts";
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
  ctx: Ctx,
  hookOwner: HookOwner,
  hookId: number,
  id: number,
): Promise<FoundDelivery> {
  const { type, webhookEvent, eventId, ...row } = await findRow(ctx, hookOwner, hookId, id);
  const content = await readContent(ctx, webhookEvent);
  if (!content) throw notFound();
  const delivery = row.isArchived ? { ...row, ...content.attempts[id] } : row;
  const takesPayload = type === "gitea" || type === "gogs";
  const payload = { event: delivery.event, body: content.payload } as Payload;
  return {
    delivery,
    eventId,
    method: type === "matrix" ? "PUT" : "POST",
    content: (takesPayload ? formatContent({ type }, payload) : delivery.requestBody) ?? "",
  };
}

/**
 * Finds the event that a delivery of a hook reports.
 *
 * @throws Failure `not_found` as `findDelivery` does.
 */
export async function findEventOfDelivery(
  ctx: Ctx,
  hookOwner: HookOwner,
  hookId: number,
  id: number,
): Promise<number> {
  return (await findRow(ctx, hookOwner, hookId, id)).eventId;
}

async function findRow({ db }: Ctx, hookOwner: HookOwner, hookId: number, id: number) {
  const [row] = await deliveryOfHook(db, { id, hookId, owner: hookOwnerArgument(hookOwner) });
  if (!row) throw notFound();
  return row;
}

const deliveryOfHook = prepare(
  (db, p: Params<{ id: number; hookId: number; owner: HookOwnerArgument }>) =>
    db
      .select({
        ...columnsOf(hookDeliveries, "delivery"),
        type: hooks.type,
        webhookEvent: {
          id: sql<number>`${webhookEvents.id}`.as("webhook_event_row"),
          payload: webhookEvents.payload,
          archive: webhookEvents.archive,
        },
        eventId: webhookEvents.eventId,
      })
      .from(hookDeliveries)
      .innerJoin(hooks, eq(hooks.id, hookDeliveries.hookId))
      .innerJoin(webhookEvents, eq(webhookEvents.id, hookDeliveries.webhookEventId))
      .where(
        and(eq(hookDeliveries.id, p.id), eq(hookDeliveries.hookId, p.hookId), isHookOf(p.owner)),
      ),
);
