import { type Actor, refuseBoundWrite } from "../../auth/actor.ts";
import type { Scope } from "../../auth/scope.ts";
import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { authenticate } from "../../entrance/authenticate.ts";
import { forbidden } from "../../lib/failure.ts";
import { guard, incoming, requireUser, type Guard, type GuardContext } from "./guard.ts";

/** Admits everybody. A credential, if sent, must be valid and have the scopes. */
export function anyone(...scopes: Scope[]): Guard {
  return guard(scopes, true, async (c) => ({ ctx: await findCaller(c, scopes) }));
}

/** Admits signed-in callers, for routes about the caller or about no account. */
export function signedIn(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c) => {
    const ctx = await findCaller(c, scopes);
    return { ctx, user: requireUser(ctx.actor) };
  });
}

/** Admits site administrators. */
export function siteAdmin(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c) => {
    const ctx = await findCaller(c, scopes);
    return { ctx, user: requireSiteAdmin(ctx.actor) };
  });
}

/** @throws Failure `unauthenticated` or `forbidden` if the caller is not a site administrator. */
export function requireSiteAdmin(actor: Actor): User {
  const user = requireUser(actor);
  if (!actor.isSiteAdmin) throw forbidden("user should be the site admin");
  return user;
}

async function findCaller(c: GuardContext, scopes: readonly Scope[]): Promise<Ctx> {
  // A route without scopes exposes no account's data, so it stays public even if the service
  // requires sign-in.
  const anonymous = scopes.length > 0 ? "by-setting" : "always";
  const { ctx } = await authenticate(incoming(c), { scopes, anonymous });
  refuseBoundWrite(ctx.actor, scopes);
  return ctx;
}
