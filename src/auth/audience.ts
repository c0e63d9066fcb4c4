import type { AccessToken } from "../db/schema/index.ts";
import type { Scope } from "./scope.ts";

/** A part of the service that a token may be for: its door alone takes the token. */
export type TokenAudience = NonNullable<AccessToken["audience"]>;

/** The path of the door for agents, which speaks the Model Context Protocol. */
export const MCP_PATH = "/mcp";

/**
 * The scopes of all tools for agents: what a client asks for that knows nothing else. The person
 * who is asked may leave any of them out.
 */
export const MCP_SCOPES: readonly Scope[] = [
  "write:repository",
  "write:issue",
  "write:notification",
  "read:organization",
  "read:package",
  "write:user",
];

/** The paths of the metadata of protected resources. @see RFC 9728 section 3.1 */
export const RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource";

/** The identifier of a protected resource: that of an audience, or of the whole service. */
export const resourceUrl = (rootUrl: string, audience: TokenAudience | null): string =>
  audience === null ? rootUrl : `${rootUrl}${MCP_PATH}`;
