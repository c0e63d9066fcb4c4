import { unseal } from "../../../../auth/seal.ts";
import type { Hook as HookRow } from "../../../../db/schema/index.ts";
import {
  type DeliveryRequest,
  toDeliveryRequest,
} from "../../../../events/webhooks/deliveries/delivery-request.ts";
import type { DeliveryTarget } from "../../../../events/webhooks/deliveries/delivery-target.ts";
import type { DeliveredEvent } from "../../../../events/webhooks/payloads/hook-event.ts";
import type { DeliveryRun } from "./delivery-run.ts";
import type { DueDelivery } from "./due-delivery.ts";
import { SEALED_FOR } from "../hooks/hook-options.ts";

/** A delivery ready to be sent, or the reason why it cannot be sent. */
type OpenDelivery =
  | {
      readonly kind: "ready";
      readonly request: DeliveryRequest;
      /** The message sent to a chat; null for hooks that receive the payload. */
      readonly message: string | null;
    }
  /** The reason is public. */
  | { readonly kind: "unsendable"; readonly reason: string }
  | { readonly kind: "silent" };

/** Builds the request of a delivery. The bytes are the same on each attempt. */
export async function openDelivery(
  { ctx: { config }, contents }: DeliveryRun,
  row: HookRow,
  due: DueDelivery,
): Promise<OpenDelivery> {
  const { type, url, contentType, level } = row;
  const open = (sealed: string | null, purpose: string) =>
    sealed === null
      ? ({ kind: "open", text: "" } as const)
      : unseal(config.sealingKeys, sealed, purpose);
  const secret = await open(row.secret, SEALED_FOR.secret);
  const authorization = await open(row.authorization, SEALED_FOR.authorization);
  // SECURITY: a delivery that cannot be signed is not sent, so receivers never have to accept
  // unsigned ones.
  if (secret.kind !== "open") return unsendable("secret", secret.kind);
  if (authorization.kind !== "open") return unsendable("authorization header", authorization.kind);

  const hook: DeliveryTarget = {
    type,
    url,
    contentType,
    level,
    secret: secret.text,
    authorizationHeader: authorization.text,
  };
  const content = await contents.find(row, due.webhookEventId);
  if (content === undefined) return { kind: "silent" };
  const { uuid: id, eventId } = due;
  const event = due.event as DeliveredEvent;
  const request = await toDeliveryRequest(hook, { id, event, eventId, content });
  const takesPayload = type === "gitea" || type === "gogs";
  return { kind: "ready", request, message: takesPayload ? null : content.text };
}

const unsendable = (what: string, kind: "key_missing" | "damaged") => ({
  kind: "unsendable" as const,
  reason:
    kind === "key_missing"
      ? `not sent: the service no longer has the key that sealed the webhook's ${what}`
      : `not sent: the webhook's ${what} can't be unsealed; set it again`,
});
