import type { Context } from "hono";

import { isAllowed } from "../../auth/access/permission.ts";
import type { User } from "../../db/schema/index.ts";
import { unauthenticated } from "../../lib/failure.ts";
import { findVisit, refuseReadOnly, SIGN_IN } from "../enter.ts";
import type { GitHttpEnv, Visit } from "../env.ts";

/** A visit of somebody who is signed in. */
export interface UserVisit extends Visit {
  user: User;
}

/** Lets in whoever may read the repository. */
export const enterToRead = (c: Context<GitHttpEnv>): Promise<Visit> =>
  findVisit(c, { isPush: false, mayCreate: false });

/** Lets in people who may read the repository and are signed in. */
export async function enterSignedIn(c: Context<GitHttpEnv>): Promise<UserVisit> {
  const visit = await enterToRead(c);
  const { user } = visit.ctx.actor;
  if (!user) throw unauthenticated(SIGN_IN);
  return { ...visit, user };
}

/**
 * Lets in people who may write to the repository, where anybody may.
 *
 * @param mayCreate Whether the repository may come into being by this, as it may by a push.
 */
export async function enterToWrite(c: Context<GitHttpEnv>, mayCreate = false): Promise<UserVisit> {
  const visit = await findVisit(c, { isPush: true, mayCreate });
  const { user } = visit.ctx.actor;
  // As Gitea has it: clients ask for another name and password then.
  if (!user || !isAllowed(visit.entry, { unit: "code", mode: "write" })) {
    throw unauthenticated("you may not write to this repository");
  }
  refuseReadOnly(visit.entry);
  return { ...visit, user };
}
