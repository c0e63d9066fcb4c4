import type { MiddlewareHandler } from "hono";

import type { Ctx } from "../../context.ts";
import type { HookPlace } from "../../domain/webhooks/hooks/hook-place.ts";
import { forbidden } from "../../lib/failure.ts";
import type { Guard, GuardVariables } from "../guards/guard.ts";

/**
 * Lets those whom `door` lets in come to the webhooks of a place, unless the service has none.
 *
 * @param placeOf Where they are, of what the door left.
 */
export function atHooks<V extends object>(
  door: Guard<V>,
  placeOf: (variables: GuardVariables & V) => HookPlace,
): Guard<{ place: HookPlace }> {
  const handler: MiddlewareHandler<{ Variables: GuardVariables & { place: HookPlace } }> = (
    c,
    next,
  ) =>
    (door as MiddlewareHandler)(c, async () => {
      requireWebhooks(c.var.ctx);
      c.set("place", placeOf(c.var as GuardVariables as GuardVariables & V));
      await next();
    });
  return Object.assign(handler, { scopes: door.scopes, isOpen: door.isOpen });
}

/** @throws Failure `forbidden` where the service has no webhooks. */
export function requireWebhooks({ config }: Ctx): void {
  if (config.areWebhooksDisabled) throw forbidden("webhooks disabled by administrator");
}
