import type { Context, MiddlewareHandler, Next } from "hono";

import type { Actor } from "../../auth/actor.ts";
import { readCredential } from "../../auth/credential.ts";
import { authenticate } from "../../auth/authenticate.ts";
import type { CallerSql } from "../../auth/caller-sql.ts";
import { noteTokenUse } from "../../auth/note-token-use.ts";
import { hasScope, type Scope } from "../../auth/scope.ts";
import { noReplyDomain } from "../../config.ts";
import type { Ctx, OpenCtx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { forbidden, unauthenticated } from "../../lib/failure.ts";
import type { Viewer } from "../../shapes/viewer.ts";

/** What every guard leaves for the handler. */
export interface GuardVariables {
  open: OpenCtx;
  requestId: string;
  ctx: Ctx;
  viewer: Viewer;
  /** Bytes of a JSON body at most, where a route takes more than others. */
  bodyBytesMax?: number;
}

/** A route's first middleware: who may enter, with which scopes. It declares them for the tests that list all routes. */
export type Guard<V extends object = object> = MiddlewareHandler<{
  Variables: GuardVariables & V;
}> & {
  scopes: readonly Scope[];
  /** Whether anonymous callers may enter. */
  isOpen: boolean;
};

export type GuardContext = Context<{ Variables: GuardVariables }>;

/** Makes a guard of a function that lets a request in, and says what it leaves for the handler. */
export function guard<V extends object>(
  scopes: readonly Scope[],
  isOpen: boolean,
  admit: (c: GuardContext) => Promise<V>,
): Guard<V> {
  const handler = async (c: GuardContext, next: Next) => {
    for (const [name, value] of Object.entries(await admit(c))) c.set(name as "ctx", value as Ctx);
    await next();
  };
  return Object.assign(handler as unknown as MiddlewareHandler<{ Variables: GuardVariables & V }>, {
    scopes,
    isOpen,
  });
}

/** Looks up the caller and, in the same round trip, the place; refuses credentials that don't reach as far as `scopes`. */
export async function enter<W extends Parameters<typeof authenticate>[3]>(
  c: GuardContext,
  scopes: readonly Scope[],
  where?: W,
) {
  const { open } = c.var;
  const query = new URL(c.req.url).searchParams;
  const credential = readCredential(c.req.header("authorization"), query);
  const sudo = c.req.header("sudo") || query.get("sudo") || undefined;
  const { actor, target } = await authenticate(open.db, { credential, sudo }, open.now, where);
  const ctx: Ctx = { ...open, actor };
  c.set("ctx", ctx);
  c.set("viewer", toViewer(ctx));

  if (actor.user === undefined && open.config.isSignInRequired && scopes.length > 0) {
    throw forbidden("Only signed in user is allowed to call APIs.");
  }
  const missing = scopes.filter((scope) => !hasScope(actor.scopes, scope));
  if (missing.length > 0) {
    throw forbidden(
      `token does not have at least one of required scope(s), required=[${missing.join(" ")}], token scope=${actor.scopes.text}`,
    );
  }
  const noting = actor.token && noteTokenUse(ctx.db, actor.token, ctx.now);
  if (noting) ctx.defer(noting);
  return target as
    | (W extends (who: CallerSql) => infer Q
        ? Q extends { _: { result: infer R } }
          ? R
          : never
        : never)
    | undefined;
}

function toViewer({ actor, rootUrl, config }: Ctx): Viewer {
  return {
    userId: actor.scopes.isPublicOnly ? undefined : actor.user?.id,
    isSiteAdmin: actor.isSiteAdmin,
    rootUrl,
    noReplyDomain: noReplyDomain(config, rootUrl),
  };
}

export function requireUser(actor: Actor): User {
  if (!actor.user) throw unauthenticated("token is required");
  return actor.user;
}
