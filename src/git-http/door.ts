import type { Context } from "hono";

import type { Door, IncomingRequest } from "../entrance/door.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import type { GitHttpEnv } from "./env.ts";

/**
 * How git and Git LFS are refused.
 *
 * SECURITY: to strangers a repository that does not exist and one that they may not see are the same:
 * both ask for a password, as git needs to be asked before it sends one.
 */
const GIT_DOOR: Door = {
  hasSudo: false,
  refuseAnonymous: () => unauthenticated(SIGN_IN),
  refuseScopes: () => forbidden("Forbidden"),
  refuseUnknown: ({ user }) => (user ? notFound("Repository not found") : unauthenticated(SIGN_IN)),
};

/** What a caller is told who must be signed in. */
export const SIGN_IN = "sign in with a user name and a password or token";

/** A request of git, as the entrance takes it. */
export const incoming = (c: Context<GitHttpEnv>): IncomingRequest => ({
  door: GIT_DOOR,
  base: c.var.base,
  raw: c.req.raw,
});
