import { isAllowed } from "../auth/access/permission.ts";
import { type Door, incomingAt } from "../entrance/door.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";

/** Refusals for pages. */
export const WEB_DOOR: Door = {
  hasSudo: false,
  refuseAnonymous: () => unauthenticated("sign in first"),
  refuseScopes: () => forbidden("Forbidden"),
  refuseUnknown: () => notFound(),
  requireAccess(_actor, repo, requirement) {
    if (!isAllowed(repo, requirement)) throw notFound();
  },
};

/** A page request in the form that `src/entrance` takes. */
export const incoming = incomingAt(WEB_DOOR);
