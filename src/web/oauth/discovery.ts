import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  type TokenAudience,
  MCP_PATH,
  MCP_SCOPES,
  RESOURCE_METADATA_PATH,
  resourceUrl,
} from "../../auth/audience.ts";
import { SCOPE_CATEGORIES } from "../../auth/scope.ts";
import { CLAIM_NAMES } from "../../domain/people/oauth/claims.ts";
import { IDENTITY_SCOPES } from "../../domain/people/oauth/requested-scopes.ts";
import { listPublicKeys, SIGNING_ALGORITHM } from "../../domain/people/oauth/signing-keys.ts";
import type { WebEnv } from "../env.ts";

/** The documents by which clients find the endpoints and keys of the provider. */
export const discovery = new Hono<WebEnv>({ router: new TrieRouter() });

/**
 * @see OpenID Connect Discovery, section 4; a service without a key to sign ID tokens is no OpenID
 *   provider.
 */
discovery.get("/.well-known/openid-configuration", (c) =>
  c.var.base.config.oauthSigningKeys.length > 0 ? c.json(describe(c)) : c.notFound(),
);

/**
 * SECURITY: none with a path behind, which would be that of another issuer: a client must refuse
 * one that names this issuer, and goes on to this address where there is none.
 *
 * @see RFC 8414 section 3.3
 */
discovery.get("/.well-known/oauth-authorization-server", (c) => c.json(describe(c)));

/** @see RFC 9728 section 3 */
discovery.get(RESOURCE_METADATA_PATH, (c) => c.json(describeResource(c, null)));
discovery.get(`${RESOURCE_METADATA_PATH}${MCP_PATH}`, (c) => c.json(describeResource(c, "mcp")));

/** @see RFC 9728 section 2 */
function describeResource(c: Context<WebEnv>, audience: TokenAudience | null) {
  const { rootUrl, config } = c.var.base;
  return {
    resource: resourceUrl(rootUrl, audience),
    authorization_servers: [rootUrl],
    scopes_supported: MCP_SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: config.appName,
    resource_documentation: `${rootUrl}/docs/oauth2`,
  };
}

/** @see RFC 7517 */
discovery.get("/login/oauth/keys", async (c) =>
  c.json({ keys: await listPublicKeys(c.var.base.config) }),
);

const ACCESS_SCOPES = [
  "all",
  "public-only",
  ...SCOPE_CATEGORIES.flatMap((category) => [`read:${category}`, `write:${category}`]),
];

/** Clients of OAuth 2.0 and of OpenID Connect read the same document. */
function describe(c: Context<WebEnv>) {
  const { rootUrl, config } = c.var.base;
  const isOpenId = config.oauthSigningKeys.length > 0;
  const byClient = ["client_secret_basic", "client_secret_post"];
  return {
    issuer: rootUrl,
    authorization_endpoint: `${rootUrl}/login/oauth/authorize`,
    token_endpoint: `${rootUrl}/login/oauth/access_token`,
    introspection_endpoint: `${rootUrl}/login/oauth/introspect`,
    revocation_endpoint: `${rootUrl}/login/oauth/revoke`,
    ...(config.mayClientsRegister && {
      registration_endpoint: `${rootUrl}/login/oauth/register`,
    }),
    client_id_metadata_document_supported: config.mayClientsHaveDocuments,
    protected_resources: [resourceUrl(rootUrl, "mcp")],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: [...byClient, "none"],
    introspection_endpoint_auth_methods_supported: byClient,
    revocation_endpoint_auth_methods_supported: [...byClient, "none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: isOpenId ? [...IDENTITY_SCOPES, ...ACCESS_SCOPES] : ACCESS_SCOPES,
    service_documentation: `${rootUrl}/api/swagger`,
    ...(isOpenId && {
      jwks_uri: `${rootUrl}/login/oauth/keys`,
      userinfo_endpoint: `${rootUrl}/login/oauth/userinfo`,
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [SIGNING_ALGORITHM],
      claims_supported: ["aud", "exp", "iat", "iss", ...CLAIM_NAMES, "auth_time", "nonce"],
      prompt_values_supported: ["none", "consent", "login"],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    }),
  };
}
