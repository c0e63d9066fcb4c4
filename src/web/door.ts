import type { Context } from "hono";

import type { Door, IncomingRequest } from "../entrance/door.ts";
import { forbidden, notFound, unauthenticated } from "../lib/failure.ts";
import type { WebEnv } from "./env.ts";

/** Refusals for pages. */
export const WEB_DOOR: Door = {
  hasSudo: false,
  refuseAnonymous: () => unauthenticated("sign in first"),
  refuseScopes: () => forbidden("Forbidden"),
  refuseUnknown: () => notFound(),
};

/** A page request in the form that `src/entrance` takes. */
export const incoming = (c: Context<WebEnv>): IncomingRequest => ({
  door: WEB_DOOR,
  open: c.var.open,
  raw: c.req.raw,
});
