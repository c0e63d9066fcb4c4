import type { MiddlewareHandler } from "hono";

import type { Ctx } from "../../context.ts";
import type { HookOwner } from "../../domain/webhooks/hooks/hook-owner.ts";
import { forbidden } from "../../lib/failure.ts";
import type { Guard, GuardVariables } from "../guards/guard.ts";

/**
 * Lets those whom `door` lets in come to the webhooks of a hookOwner, unless the service has none.
 *
 * @param placeOf Where they are, of what the door left.
 */
export function atHooks<V extends object>(
  door: Guard<V>,
  hookOwnerOf: (variables: GuardVariables & V) => HookOwner,
): Guard<{ hookOwner: HookOwner }> {
  const handler: MiddlewareHandler<{ Variables: GuardVariables & { hookOwner: HookOwner } }> = (
    c,
    next,
  ) =>
    (door as MiddlewareHandler)(c, async () => {
      requireWebhooks(c.var.ctx);
      c.set("hookOwner", hookOwnerOf(c.var as GuardVariables as GuardVariables & V));
      await next();
    });
  return Object.assign(handler, { scopes: door.scopes, allowsAnonymous: door.allowsAnonymous });
}

/** @throws Failure `forbidden` where the service has no webhooks. */
export function requireWebhooks({ config }: Ctx): void {
  if (config.areWebhooksDisabled) throw forbidden("webhooks disabled by administrator");
}
