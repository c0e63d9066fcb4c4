import type { Scope } from "../../auth/scope.ts";
import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { authenticateRequest } from "../../entrance/authenticate-request.ts";
import { forbidden } from "../../lib/failure.ts";
import { guard, incoming, requireUser, type Guard, type GuardContext } from "./guard.ts";

/** For everybody. A credential that is sent must still be right, and reach as far as `scopes`. */
export function anyone(...scopes: Scope[]): Guard {
  return guard(scopes, true, async (c) => ({ ctx: await findCaller(c, scopes) }));
}

/** For people who are signed in, where the route is about themselves or about nobody. */
export function signedIn(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c) => {
    const ctx = await findCaller(c, scopes);
    return { ctx, user: requireUser(ctx.actor) };
  });
}

/** For site administrators. */
export function siteAdmin(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c) => {
    const ctx = await findCaller(c, scopes);
    const user = requireUser(ctx.actor);
    if (!ctx.actor.isSiteAdmin) throw forbidden("user should be the site admin");
    return { ctx, user };
  });
}

async function findCaller(c: GuardContext, scopes: readonly Scope[]): Promise<Ctx> {
  // What needs no scope tells nothing about anybody, so that no setting closes it.
  const anonymous = scopes.length > 0 ? "by-setting" : "always";
  const { ctx } = await authenticateRequest(incoming(c), { scopes, anonymous });
  return ctx;
}
