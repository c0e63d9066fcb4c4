import { z } from "@hono/zod-openapi";

import { DELIVERY_STATUSES, type HookDelivery as DeliveryRow } from "../../db/schema/index.ts";
import { formatTime, formatTimeOrNull } from "../../lib/time.ts";
import { Int64, Time, TimeOrNull } from "../json.ts";

export const HookDelivery = z
  .object({
    id: Int64,
    uuid: z.string().openapi({
      format: "uuid",
      description: "What the receiver knows it by, the same on every attempt and redelivery",
    }),
    event: z
      .string()
      .openapi({ description: "What the webhook is told of, as its `events` name it" }),
    event_id: Int64.openapi({ description: "Of what it tells of, as streams of events number it" }),
    status: z.enum(DELIVERY_STATUSES).openapi({
      description: "Whether it is to be sent, was received, or was given up",
    }),
    attempts: Int64.openapi({
      description: "How often it was sent since it was last asked for",
    }),
    next_attempt_at: TimeOrNull.openapi({
      description: "When it is to be sent; null where it is not to be",
    }),
    is_requested: z.boolean().openapi({
      description:
        "Whether somebody asked for it, by a test or once more: it is sent even if the webhook is not active",
    }),
    response_status: Int64.nullable().openapi({
      description: "Of the last attempt; null where there was no answer, or no attempt yet",
    }),
    failure: z
      .string()
      .openapi({ description: "Why there was no answer, empty where there was one" }),
    duration_ms: Int64.nullable().openapi({ description: "Of the last attempt" }),
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
      headers: Headers.openapi({ description: "Without what is secret" }),
      body: z.string().openapi({
        description: "The text that is signed; sent as a form, it is the value of `payload`",
      }),
    })
    .nullable()
    .openapi({ description: "Of the last attempt; null before the first one" }),
  response: z
    .object({
      status: Int64,
      headers: Headers,
      body: z.string().openapi({ description: "Its beginning, as text" }),
    })
    .nullable()
    .openapi({ description: "To the last attempt; null where there was no answer" }),
}).openapi("HookDeliveryDetail");

/** How a delivery stands, as queries bring it. */
interface Standing {
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

/** A delivery as those see it who may change its hook. */
export function toHookDelivery({ delivery, eventId }: Standing): z.infer<typeof HookDelivery> {
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

/** The same, with what was sent and answered. */
interface Sent extends Standing {
  readonly delivery: DeliveryRow;
  readonly method: "POST" | "PUT";
  readonly content: string;
}

export function toHookDeliveryDetail(sent: Sent): z.infer<typeof HookDeliveryDetail> {
  const { delivery, method, content } = sent;
  const { requestUrl, requestHeaders, responseStatus } = delivery;
  return {
    ...toHookDelivery(sent),
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

/** SECURITY: none of them are kept; this is so that none is told if one were. */
const withoutSecrets = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization"),
  );
