import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

/** Headers of answers that scripts of other origins may read. */
const EXPOSED = [
  "Content-Disposition",
  "ETag",
  "Link",
  "Location",
  "Retry-After",
  "WWW-Authenticate",
  "X-D1-Bookmark",
  "X-Edgeforge-Reason",
  "X-Gitea-Object-Type",
  "X-Gitea-Warning",
  "X-HasMore",
  "X-Page",
  "X-PageCount",
  "X-PerPage",
  "X-Request-Id",
  "X-Total",
  "X-Total-Count",
];

const EXPOSED_LIST = EXPOSED.join(", ");

/** Headers that scripts of other origins may send. */
const ALLOWED = [
  "Accept",
  "Authorization",
  "Cache-Control",
  "Content-Type",
  "If-Modified-Since",
  "If-None-Match",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
  "Range",
  "Sudo",
  "X-D1-Bookmark",
  "X-Gitea-OTP",
  "X-Requested-With",
];

/** How long a browser remembers the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = 7200;

/**
 * Lets scripts of other origins call what takes tokens.
 *
 * SECURITY: without `Access-Control-Allow-Credentials` browsers send no cookies with such calls. A
 * script acts by a token that somebody gave it, and an answer without one is the same as for
 * everybody.
 *
 * @param origins All origins, or those listed; an empty list lets none in.
 */
export function crossOrigin(origins: "*" | readonly string[]): MiddlewareHandler {
  const answer = cors({
    origin: origins === "*" ? origins : [...origins],
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    allowHeaders: ALLOWED,
    maxAge: PREFLIGHT_SECONDS,
  });
  return async (c, next) => {
    const origin = c.req.header("origin");
    const isPreflight = c.req.method === "OPTIONS";
    const isAsked = !isPreflight || c.req.header("access-control-request-method") !== undefined;
    const isAllowed = origin !== undefined && (origins === "*" || origins.includes(origin));
    if (isAllowed && isAsked) {
      const preflight = await answer(c, next);
      if (preflight) return preflight;
      // Not by `c.header`, which copies a response that exists.
      // After the route, which names the few headers that it sets.
      c.res.headers.set("Access-Control-Expose-Headers", EXPOSED_LIST);
    } else {
      await next();
      // A cache must not give one origin the answer to another.
      c.res.headers.append("Vary", "Origin");
    }
    return undefined;
  };
}
