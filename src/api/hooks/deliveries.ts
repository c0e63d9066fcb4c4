import { createRoute, z } from "@hono/zod-openapi";

import { DELIVERY_STATUSES } from "../../db/schema/index.ts";
import { findDelivery } from "../../domain/exchange/webhooks/delivery/find-delivery.ts";
import { listDeliveries } from "../../domain/exchange/webhooks/delivery/list-deliveries.ts";
import { redeliver, redeliverFailed } from "../../domain/exchange/webhooks/delivery/redeliver.ts";
import { DELIVERED_EVENTS } from "../../events/webhooks/payloads/hook-event.ts";
import {
  HookDelivery,
  HookDeliveryDetail,
  toHookDelivery,
  toHookDeliveryDetail,
} from "../../shapes/webhooks/hook-delivery.ts";
import { Int64 } from "../../shapes/json.ts";
import { json, page, refusals } from "../answers.ts";
import type { endpoints } from "../endpoints.ts";
import { answerPage } from "../handlers.ts";
import { body } from "../json-body.ts";
import { Paging } from "../paging.ts";
import { PathId } from "../path-id.ts";
import type { HookRoutes } from "./hook-routes.ts";

const Listing = Paging.extend({
  status: z
    .enum(DELIVERY_STATUSES)
    .optional()
    .openapi({ description: "Only deliveries with this status" }),
  event: z
    .enum(DELIVERED_EVENTS)
    .optional()
    .openapi({ description: "Only deliveries of this event" }),
});

const RedeliverFailed = body({
  since: z.iso
    .datetime({ offset: true })
    .openapi({ format: "date-time", description: "Only deliveries created at or after this time" }),
}).openapi("RedeliverHookOption");

const Redelivered = z
  .object({
    count: Int64.openapi({ description: "The number of deliveries queued for redelivery" }),
  })
  .openapi("RedeliveredHook");

/** Adds the routes of webhook deliveries. They are an extension of Gitea's API. */
export function addDeliveries(
  routes: ReturnType<typeof endpoints>,
  { path: hooksPath, params, prefix, tag, webhook, reading, writing }: HookRoutes,
): void {
  const path = `${hooksPath}/{id}` as const;
  const DeliveryPath = params.extend({ delivery_id: PathId });

  routes.openapi(
    createRoute({
      method: "get",
      path: `${path}/deliveries`,
      operationId: `${prefix}ListHookDeliveries`,
      tags: [tag],
      summary: `List ${webhook}'s deliveries`,
      middleware: [reading] as const,
      request: { params, query: Listing },
      responses: {
        200: page(z.array(HookDelivery), "The deliveries, newest first"),
        ...refusals(401, 403, 404, 422),
      },
    }),
    (c) =>
      answerPage(
        c,
        ({ ctx, hookOwner }, slice) =>
          listDeliveries(ctx, hookOwner, c.req.valid("param").id, c.req.valid("query"), slice),
        toHookDelivery,
      ),
  );

  routes.openapi(
    createRoute({
      method: "get",
      path: `${path}/deliveries/{delivery_id}`,
      operationId: `${prefix}GetHookDelivery`,
      tags: [tag],
      summary: `Get a delivery of ${webhook} with its requests and responses`,
      middleware: [reading] as const,
      request: { params: DeliveryPath },
      responses: { 200: json(HookDeliveryDetail, "The delivery"), ...refusals(401, 403, 404) },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      const { id, delivery_id: deliveryId } = c.req.valid("param");
      return c.json(toHookDeliveryDetail(await findDelivery(ctx, hookOwner, id, deliveryId)), 200);
    },
  );

  routes.openapi(
    createRoute({
      method: "post",
      path: `${path}/deliveries/attempts`,
      operationId: `${prefix}RedeliverFailedHookDeliveries`,
      tags: [tag],
      summary: `Redeliver ${webhook}'s failed deliveries`,
      middleware: [writing] as const,
      request: {
        params,
        body: { required: true, ...json(RedeliverFailed, "The start of the time range") },
      },
      responses: {
        202: json(Redelivered, "The deliveries are queued"),
        ...refusals(400, 401, 403, 404, 422),
      },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      const since = Date.parse(c.req.valid("json").since);
      const count = await redeliverFailed(ctx, hookOwner, c.req.valid("param").id, since);
      return c.json({ count }, 202);
    },
  );

  routes.openapi(
    createRoute({
      method: "post",
      path: `${path}/deliveries/{delivery_id}/attempts`,
      operationId: `${prefix}RedeliverHookDelivery`,
      tags: [tag],
      summary: `Redeliver a delivery of ${webhook}`,
      description:
        "Queues the delivery again under the same uuid. If it waits for another attempt, the attempt is made now.",
      middleware: [writing] as const,
      request: { params: DeliveryPath },
      responses: {
        202: json(HookDelivery, "The delivery is queued"),
        ...refusals(401, 403, 404, 409),
      },
    }),
    async (c) => {
      const { ctx, hookOwner } = c.var;
      const { id, delivery_id: deliveryId } = c.req.valid("param");
      return c.json(toHookDelivery(await redeliver(ctx, hookOwner, id, deliveryId)), 202);
    },
  );
}
