import { type TokenAudience, MCP_PATH } from "../../../auth/audience.ts";
import { OauthError } from "./oauth-error.ts";

/**
 * Parses the `resource` of a request: the part of this service that the token is for, or null for
 * all of it. Scheme and host may be in any case, and a slash may follow.
 *
 * @throws OauthError `invalid_target` for a resource of another service, or one that is not known.
 * @see RFC 8707 section 2
 */
export function parseResource(rootUrl: string, text: string): TokenAudience | null {
  const url = URL.parse(text);
  const isPlain = url?.username === "" && url.password === "" && !/[?#]/.test(text);
  if (url && isPlain && url.origin === new URL(rootUrl).origin) {
    const path = url.pathname.replace(/\/$/, "");
    if (path === "") return null;
    if (path === MCP_PATH) return "mcp";
  }
  throw new OauthError("invalid_target", "the resource is not one of this service");
}

/**
 * The audience of tokens, given that of their grant and the `resource` of the request for them, ""
 * if it names none.
 *
 * @throws OauthError `invalid_target` for more than was granted.
 */
export function narrowAudience(
  rootUrl: string,
  granted: TokenAudience | null,
  resource: string,
): TokenAudience | null {
  if (resource === "") return granted;
  const asked = parseResource(rootUrl, resource);
  if (granted === null || asked === granted) return asked;
  throw new OauthError("invalid_target", "the resource exceeds what the user granted");
}
