import type { MiddlewareHandler } from "hono";

import type { HookOwner } from "../../domain/exchange/webhooks/hooks/hook-owner.ts";
import { requireWebhooks } from "../../domain/exchange/webhooks/hooks/require-webhooks.ts";
import type { Guard, GuardVariables } from "../guards/guard.ts";

/**
 * A guard of webhook routes: admits callers whom `guard` admits, unless webhooks are disabled.
 *
 * @param hookOwnerOf Finds the owner of the webhooks in the variables that `guard` sets.
 */
export function atHooks<V extends object>(
  guard: Guard<V>,
  hookOwnerOf: (variables: GuardVariables & V) => HookOwner,
): Guard<{ hookOwner: HookOwner }> {
  const handler: MiddlewareHandler<{ Variables: GuardVariables & { hookOwner: HookOwner } }> = (
    c,
    next,
  ) =>
    (guard as MiddlewareHandler)(c, async () => {
      requireWebhooks(c.var.ctx);
      c.set("hookOwner", hookOwnerOf(c.var as GuardVariables as GuardVariables & V));
      await next();
    });
  return Object.assign(handler, { scopes: guard.scopes, allowsAnonymous: guard.allowsAnonymous });
}
