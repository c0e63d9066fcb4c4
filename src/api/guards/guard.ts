import type { Context, MiddlewareHandler, Next } from "hono";

import type { Actor } from "../../auth/actor.ts";
import type { Scope } from "../../auth/scope.ts";
import { noReplyDomain } from "../../config.ts";
import type { Ctx, BaseCtx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { incomingAt } from "../../entrance/door.ts";
import { unauthenticated } from "../../lib/failure.ts";
import type { Viewer } from "../../shapes/viewer.ts";
import { API_DOOR, SIGN_IN } from "./door.ts";

/** Variables that every guard sets for the handler. */
export interface GuardVariables {
  base: BaseCtx;
  requestId: string;
  ctx: Ctx;
  viewer: Viewer;
  /** Maximum bytes of a JSON body, on routes with a limit of their own. */
  bodyBytesMax?: number;
}

/**
 * A route's first middleware: decides who may enter and with which scopes. It declares both, for
 * the OpenAPI document and for tests over all routes.
 */
export type Guard<V extends object = object> = MiddlewareHandler<{
  Variables: GuardVariables & V;
}> & {
  scopes: readonly Scope[];
  /** Whether callers without a credential may enter. */
  allowsAnonymous: boolean;
};

export type GuardContext = Context<{ Variables: GuardVariables }>;

/**
 * Makes a guard from a function that admits a request or throws, and returns variables for the
 * handler.
 */
export function guard<V extends object>(
  scopes: readonly Scope[],
  allowsAnonymous: boolean,
  admit: (c: GuardContext) => Promise<V & { ctx: Ctx }>,
): Guard<V> {
  const handler = async (c: GuardContext, next: Next) => {
    const admitted = await admit(c);
    const variables = { ...admitted, viewer: toViewer(admitted.ctx) };
    for (const [name, value] of Object.entries(variables)) c.set(name as "ctx", value as Ctx);
    await next();
  };
  return Object.assign(handler as unknown as MiddlewareHandler<{ Variables: GuardVariables & V }>, {
    scopes,
    allowsAnonymous,
  });
}

/** The request of a guard, for the functions of `entrance`. */
export const incoming = incomingAt(API_DOOR);

function toViewer({ actor, rootUrl, publicUrl, config }: Ctx): Viewer {
  return {
    userId: actor.scopes.isPublicOnly ? undefined : actor.user?.id,
    isSiteAdmin: actor.isSiteAdmin,
    rootUrl,
    noReplyDomain: noReplyDomain(config, publicUrl),
  };
}

/** @throws Failure `unauthenticated` if the caller is anonymous. */
export function requireUser(actor: Actor): User {
  if (!actor.user) throw unauthenticated(SIGN_IN);
  return actor.user;
}
