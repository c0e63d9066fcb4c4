import type { Actor } from "../auth/actor.ts";
import type { TokenAudience } from "../auth/audience.ts";
import { unauthenticated } from "../lib/failure.ts";

/** The requests that take tokens for an audience, besides those for the whole service. */
const admitted = new WeakMap<Request, TokenAudience>();

/**
 * Lets a request come with a token for an audience: one to the door of that audience, or one that
 * the door's own code sends on to other routes of this service.
 *
 * SECURITY: the request itself is marked, and no header of it: nothing from outside can be.
 *
 * @returns The request.
 */
export function admitAudience(request: Request, audience: TokenAudience): Request {
  admitted.set(request, audience);
  return request;
}

/**
 * Refuses a token that is for another door.
 *
 * SECURITY: a client that was granted the tools for agents can't do by the API what no tool does.
 *
 * @throws Failure `unauthenticated`, as for a token that is not valid.
 */
export function requireAudience(request: Request, { token }: Actor): void {
  const audience = token?.audience ?? null;
  if (audience !== null && audience !== admitted.get(request)) {
    throw unauthenticated(`the access token is for ${audience} alone`);
  }
}
