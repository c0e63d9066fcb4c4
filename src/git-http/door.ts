import { type Door, incomingAt } from "../entrance/door.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";

/**
 * Refusals for git and Git LFS clients.
 *
 * SECURITY: anonymous callers can't distinguish a missing repository from a private one: both respond with
 * 401, which git also needs before it sends a password.
 */
const GIT_DOOR: Door = {
  hasSudo: false,
  refuseAnonymous: () => unauthenticated(SIGN_IN),
  refuseScopes: () => forbidden("Forbidden"),
  refuseUnknown: ({ user }) => (user ? notFound("Repository not found") : unauthenticated(SIGN_IN)),
};

/** The message for anonymous callers that must sign in. */
export const SIGN_IN = "sign in with a user name and a password or token";

/** A git request in the form that `src/entrance` takes. */
export const incoming = incomingAt(GIT_DOOR);
