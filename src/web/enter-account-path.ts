import type { Context } from "hono";

import type { Scope } from "../auth/scope.ts";
import type { User } from "../db/schema/index.ts";
import { requireScopes } from "../entrance/authenticate.ts";
import { enterAccount, type AccountContext } from "../entrance/enter-account.ts";
import { incoming, WEB_DOOR } from "./door.ts";
import type { WebEnv } from "./env.ts";

/**
 * Authorizes a request for the user or organization of its path.
 *
 * @param ending The part of the path after the account's name.
 */
export async function enterAccountPath(
  c: Context<WebEnv>,
  name: string,
  ending: string,
): Promise<AccountContext> {
  const context = await enterAccount(incoming(c), {
    name,
    // The required scope depends on the account's kind and is checked below.
    scopes: [],
    anonymous: "by-setting",
    pathAt: (renamed) => `/${renamed.name}${ending}`,
  });
  requireScopes(WEB_DOOR, context.ctx.actor, [SCOPES[context.account.kind]]);
  return context;
}

const SCOPES: Readonly<Record<User["kind"], Scope>> = {
  user: "read:user",
  organization: "read:organization",
};
