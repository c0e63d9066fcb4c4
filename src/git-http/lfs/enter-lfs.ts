import type { Context } from "hono";

import { isAllowed } from "../../auth/access/permission.ts";
import type { User } from "../../db/schema/index.ts";
import type { RequestContext } from "../../entrance/enter-repository.ts";
import { unauthenticated } from "../../lib/failure.ts";
import { SIGN_IN } from "../door.ts";
import { enterToPush, enterToRead, refuseReadOnly } from "../enter.ts";
import type { GitHttpEnv } from "../env.ts";

/** The context of a request by a signed-in user. */
export interface UserRequestContext extends RequestContext {
  user: User;
}

/** Requires a signed-in user who may read the repository. */
export async function enterSignedIn(c: Context<GitHttpEnv>): Promise<UserRequestContext> {
  const context = await enterToRead(c);
  const { user } = context.ctx.actor;
  if (!user) throw unauthenticated(SIGN_IN);
  return { ...context, user };
}

/**
 * Requires a signed-in user who may write to the repository, and a repository that is not read-only.
 *
 * @param mayCreate Whether the request may create the repository, as a push may.
 */
export async function enterToWrite(
  c: Context<GitHttpEnv>,
  mayCreate = false,
): Promise<UserRequestContext> {
  const context = await enterToPush(c, { mayCreate });
  const { user } = context.ctx.actor;
  // 401 as in Gitea: clients prompt for another name and password then.
  if (!user || !isAllowed(context.repo, { unit: "code", mode: "write" })) {
    throw unauthenticated("you may not write to this repository");
  }
  refuseReadOnly(context.repo);
  return { ...context, user };
}
