import type { Context } from "hono";

import { isAllowed } from "../auth/access/permission.ts";
import { type Door, incomingAt, type IncomingRequest } from "../entrance/door.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import { readCookie } from "./cookies.ts";
import type { WebEnv } from "./env.ts";

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

const openIncoming = incomingAt(WEB_DOOR);

/**
 * A page request in the form that `src/entrance` takes. A browser's session counts where the
 * request has no `Authorization` header.
 */
export function incoming(c: Context<WebEnv>): IncomingRequest {
  const secret = readCookie(c, "session");
  const request = openIncoming(c);
  if (secret === undefined || c.req.raw.headers.has("authorization")) return request;
  return { ...request, credential: { kind: "session", secret } };
}
