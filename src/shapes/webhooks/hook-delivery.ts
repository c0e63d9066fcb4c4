import { z } from "@hono/zod-openapi";

import { DELIVERY_STATUSES, type HookDelivery as DeliveryRow } from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";

export const HookDelivery = z
  .object({
    id: Int64,
    uuid: z.string().openapi({
      format: "uuid",
      description: "Sent to the receiver; the same on every attempt and redelivery",
    }),
    event: z.string().openapi({
      description:
        "The webhook event, as named in the webhook's `events`; events of reviews name the result",
    }),
    event_id: Int64.openapi({
      description: "Id of the event that is delivered, as in the event streams",
    }),
    status: z.enum(DELIVERY_STATUSES).openapi({
      description: "Whether the delivery is pending, succeeded, or failed",
    }),
    attempts: Int64.openapi({
      description: "Number of attempts since the delivery was last requested",
    }),
    next_attempt_at: TimeOrNull.openapi({
      description: "Time of the next attempt; null if none is due",
    }),
    is_requested: z.boolean().openapi({
      description:
        "Whether the delivery was requested by a test or a redelivery. It is then sent even if the webhook is not active",
    }),
    response_status: Int64.nullable().openapi({
      description: "HTTP status of the last attempt; null without a response or an attempt",
    }),
    failure: z
      .string()
      .openapi({ description: "Why there was no response; empty if there was one" }),
    duration_ms: Int64.nullable().openapi({ description: "Duration of the last attempt" }),
    created_at: Time,
    updated_at: Time,
  })
  .openapi("HookDelivery");

const Headers = z.record(z.string(), z.string());

export const HookDeliveryDetail = HookDelivery.extend({
  request: z
    .object({
      url: z.string(),
      method: z.enum(["POST", "PUT"]),
      headers: Headers.openapi({ description: "Without secret headers" }),
      body: z.string().openapi({
        description:
          "The signed text; with content type `form`, it is sent as the value of `payload`",
      }),
    })
    .nullable()
    .openapi({ description: "Request of the last attempt; null before the first attempt" }),
  response: z
    .object({
      status: Int64,
      headers: Headers,
      body: z.string().openapi({ description: "The beginning of the body, as text" }),
    })
    .nullable()
    .openapi({ description: "Response to the last attempt; null if there was none" }),
}).openapi("HookDeliveryDetail");

/** The fields of a delivery that lists show. */
interface DeliverySummary {
  readonly delivery: Pick<
    DeliveryRow,
    | "id"
    | "uuid"
    | "event"
    | "status"
    | "attemptCount"
    | "nextAttemptAt"
    | "isRequested"
    | "responseStatus"
    | "failure"
    | "durationMs"
    | "createdAt"
    | "updatedAt"
  >;
  readonly eventId: number;
}

/** Formats a delivery for callers who may edit its webhook. */
export function toHookDelivery({
  delivery,
  eventId,
}: DeliverySummary): z.infer<typeof HookDelivery> {
  return {
    id: delivery.id,
    uuid: delivery.uuid,
    event: delivery.event,
    event_id: eventId,
    status: delivery.status,
    attempts: delivery.attemptCount,
    next_attempt_at: formatTimeOrNull(delivery.nextAttemptAt),
    is_requested: delivery.isRequested,
    response_status: delivery.responseStatus,
    failure: delivery.failure,
    duration_ms: delivery.durationMs,
    created_at: formatTime(delivery.createdAt),
    updated_at: formatTime(delivery.updatedAt),
  };
}

/** A delivery with its request and response. */
interface DeliveryDetail extends DeliverySummary {
  readonly delivery: DeliveryRow;
  readonly method: "POST" | "PUT";
  readonly content: string;
}

export function toHookDeliveryDetail(detail: DeliveryDetail): z.infer<typeof HookDeliveryDetail> {
  const { delivery, method, content } = detail;
  const { requestUrl, requestHeaders, responseStatus } = delivery;
  return {
    ...toHookDelivery(detail),
    request: requestHeaders && {
      url: requestUrl,
      method,
      headers: withoutSecrets(requestHeaders),
      body: content,
    },
    response:
      responseStatus === null
        ? null
        : {
            status: responseStatus,
            headers: delivery.responseHeaders ?? {},
            body: delivery.responseBody ?? "",
          },
  };
}

/** SECURITY: secret headers are not stored. This removes one anyway, in case it were. */
const withoutSecrets = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization"),
  );
