import { MCP_PATH, MCP_SCOPES, RESOURCE_METADATA_PATH } from "../auth/audience.ts";
import type { Scope } from "../auth/scope.ts";
import type { BaseCtx } from "../context.ts";

/** Why a request to the door for agents is refused. */
export interface Challenge {
  /** Missing for a request without a token, which did nothing wrong. */
  error?: "invalid_request" | "invalid_token" | "insufficient_scope";
  /** For people; what a header can't hold is left out. */
  description?: string;
  /** All scopes that the request needs; those of all tools, if missing. */
  scopes?: readonly Scope[];
}

/**
 * The value of `WWW-Authenticate` by which the door for agents refuses a request: where a client
 * learns how to get a token, and the scopes to ask for.
 *
 * With 401 for a request without a valid token, and with 403 and `insufficient_scope` for a token
 * that lacks scopes: a client then asks its user for more, and repeats the request.
 *
 * @example
 * c.header("WWW-Authenticate", bearerChallenge(base, { error: "invalid_token" })); // 401
 *
 * @see RFC 6750 section 3; RFC 9728 section 5.1; Model Context Protocol 2026-07-28, "Scope
 *   Challenge Handling"
 */
export function bearerChallenge(
  { rootUrl }: Pick<BaseCtx, "rootUrl">,
  { error, description, scopes = MCP_SCOPES }: Challenge = {},
): string {
  const parameters: Readonly<Record<string, string | undefined>> = {
    error,
    error_description: description?.replaceAll(/[^\u0020-\u007E]|["\\]/g, ""),
    scope: scopes.join(" "),
    resource_metadata: `${rootUrl}${RESOURCE_METADATA_PATH}${MCP_PATH}`,
  };
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `Bearer ${given.map(([name, value]) => `${name}="${value}"`).join(", ")}`;
}
