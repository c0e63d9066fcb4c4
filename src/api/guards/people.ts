import type { Scope } from "../../auth/scope.ts";
import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { authenticateRequest } from "../../entrance/authenticate-request.ts";
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
    const user = requireUser(ctx.actor);
    if (!ctx.actor.isSiteAdmin) throw forbidden("user should be the site admin");
    return { ctx, user };
  });
}

async function findCaller(c: GuardContext, scopes: readonly Scope[]): Promise<Ctx> {
  // A route without scopes exposes no account's data, so it stays public even if the service requires sign-in.
  const anonymous = scopes.length > 0 ? "by-setting" : "always";
  const { ctx } = await authenticateRequest(incoming(c), { scopes, anonymous });
  return ctx;
}
