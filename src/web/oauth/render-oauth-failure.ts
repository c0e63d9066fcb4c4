import type { Context } from "hono";

import { OauthError } from "../../domain/people/oauth/oauth-error.ts";
import type { WebEnv } from "../env.ts";
import { renderFailure } from "../render-failure.ts";

const REALM = 'realm="Edgeforge OAuth2"';

/** Answers a client whose authentication failed. */
export function refuseClient(c: Context<WebEnv>, { code, message }: OauthError): Response {
  c.header("WWW-Authenticate", `Basic ${REALM}`);
  return c.json({ error: code, error_description: message }, 401, NOT_STORED);
}

/** Answers a request for what needs an access token. @see RFC 6750 section 3 */
export function refuseBearer(
  c: Context<WebEnv>,
  status: 401 | 403,
  error: "invalid_token" | "insufficient_scope" | undefined,
  message: string,
): Response {
  const details = error === undefined ? "" : `, error="${error}", error_description="${message}"`;
  c.header("WWW-Authenticate", `Bearer ${REALM}${details}`);
  return c.text(message, status, NOT_STORED);
}

/** Answers hold secrets, or reveal who has one. @see RFC 6749 section 5.1 */
export const NOT_STORED = { "Cache-Control": "no-store", Pragma: "no-cache" };

/** Renders a thrown error for a client of OAuth 2.0. */
export function renderOauthFailure(thrown: unknown, c: Context<WebEnv>): Response {
  if (!(thrown instanceof OauthError)) return renderFailure(thrown, c);
  const { code, message } = thrown;
  return c.json({ error: code, error_description: message }, 400, NOT_STORED);
}
