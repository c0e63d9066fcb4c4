import type { Scope } from "../../auth/scope.ts";
import type { User } from "../../db/schema/index.ts";
import { forbidden } from "../../lib/failure.ts";
import { enter, guard, requireUser, type Guard } from "./guard.ts";

/** For everybody. A credential that is sent must still be right, and reach as far as `scopes`. */
export function anyone(...scopes: Scope[]): Guard {
  return guard(scopes, true, async (c) => {
    await enter(c, scopes);
    return {};
  });
}

/** For people who are signed in, where the route is about themselves or about nobody. */
export function signedIn(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c) => {
    await enter(c, scopes);
    return { user: requireUser(c.var.ctx.actor) };
  });
}

/** For site administrators. */
export function siteAdmin(...scopes: Scope[]): Guard<{ user: User }> {
  return guard(scopes, false, async (c) => {
    await enter(c, scopes);
    const { actor } = c.var.ctx;
    const user = requireUser(actor);
    if (!actor.isSiteAdmin) throw forbidden("user should be the site admin");
    return { user };
  });
}
