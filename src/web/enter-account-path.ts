import type { Context } from "hono";

import type { Scope } from "../auth/scope.ts";
import type { User } from "../db/schema/index.ts";
import { requireScopes } from "../entrance/authenticate-request.ts";
import { enterAccount, type AccountContext } from "../entrance/enter-account.ts";
import { incoming, WEB_DOOR } from "./door.ts";
import type { WebEnv } from "./env.ts";

/**
 * Lets a request to the user or organization of its path.
 *
 * @param ending What follows the account's name in the address.
 */
export async function enterAccountPath(
  c: Context<WebEnv>,
  name: string,
  ending: string,
): Promise<AccountContext> {
  const context = await enterAccount(incoming(c), {
    name,
    // They depend on what has this name.
    scopes: [],
    anonymous: "by-setting",
    pathAt: (renamed) => `/${renamed.name}${ending}`,
    movedStatus: 301,
  });
  requireScopes(WEB_DOOR, context.ctx.actor, [SCOPES[context.account.kind]]);
  return context;
}

const SCOPES: Readonly<Record<User["kind"], Scope>> = {
  user: "read:user",
  organization: "read:organization",
};
