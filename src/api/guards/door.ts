import { requireAccess } from "../../auth/access/permission.ts";
import type { Door } from "../../entrance/door.ts";
import { forbidden, notFound, unauthenticated } from "../../lib/failure.ts";

/** The failures by which the API refuses requests. */
export const API_DOOR: Door = {
  hasSudo: true,
  refuseAnonymous: ({ isSignInRequired }) =>
    isSignInRequired
      ? forbidden("Only signed in user is allowed to call APIs.")
      : unauthenticated(SIGN_IN),
  refuseScopes: (missing, granted) =>
    forbidden(
      `token does not have at least one of required scope(s), required=[${missing.join(" ")}], token scope=${granted.text}`,
    ),
  refuseUnknown: (_actor, reason) => notFound("not found", reason),
  requireAccess: (_actor, repo, requirement) => requireAccess(repo, requirement),
};

/** The message to a caller who must sign in. */
export const SIGN_IN = "token is required";
