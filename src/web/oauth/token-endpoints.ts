import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { ANONYMOUS } from "../../auth/actor.ts";
import { resourceUrl } from "../../auth/audience.ts";
import type { Ctx } from "../../context.ts";
import { isClient } from "../../domain/people/oauth/authenticate-client.ts";
import { claimsOf } from "../../domain/people/oauth/claims.ts";
import { exchangeCode } from "../../domain/people/oauth/exchange-code.ts";
import { findClient } from "../../domain/people/oauth/find-grant.ts";
import { findToken, type GrantToken } from "../../domain/people/oauth/find-token.ts";
import type { IssuedTokens } from "../../domain/people/oauth/issue-tokens.ts";
import { OauthError } from "../../domain/people/oauth/oauth-error.ts";
import type { RegisteredClient } from "../../domain/people/oauth/register-client.ts";
import { refreshGrant } from "../../domain/people/oauth/refresh-grant.ts";
import { formatScope, scopesOf } from "../../domain/people/oauth/requested-scopes.ts";
import { revokeToken } from "../../domain/people/oauth/revoke-token.ts";
import type { WebEnv } from "../env.ts";
import { readClientRequest, readMetadataRequest } from "./read-client-request.ts";
import {
  NOT_STORED,
  refuseBearer,
  refuseClient,
  renderOauthFailure,
} from "./render-oauth-failure.ts";

/** The endpoints of OAuth 2.0 that clients call themselves. */
export const tokenEndpoints = new Hono<WebEnv>({ router: new TrieRouter() });

/** @see RFC 6749 sections 4.1.3 and 6 */
tokenEndpoints.post("/login/oauth/access_token", async (c) => {
  const request = await readClientRequest(c);
  const { client, text } = request;
  const ctx = openCtx(c);
  switch (text("grant_type")) {
    case "authorization_code":
      return answerTokens(
        c,
        await exchangeCode(ctx, {
          client,
          code: text("code"),
          redirectUri: text("redirect_uri"),
          codeVerifier: text("code_verifier"),
          resource: text("resource"),
        }),
      );
    case "refresh_token":
      return answerTokens(
        c,
        await refreshGrant(ctx, {
          client,
          refreshToken: text("refresh_token"),
          scope: text("scope"),
          resource: text("resource"),
        }),
      );
    default:
      throw new OauthError(
        "unsupported_grant_type",
        "Only refresh_token or authorization_code grant type is supported",
      );
  }
});

/** @see RFC 7591 */
tokenEndpoints.post("/login/oauth/register", async (c) => {
  const { registerClient } = await import("../../domain/people/oauth/register-client.ts");
  const ctx = openCtx(c);
  await c.var.base.rateLimits.count("CLIENT_REGISTRATIONS", c.var.base.network);
  const registered = await registerClient(ctx, await readMetadataRequest(c));
  return c.json(toRegistration(registered), 201, NOT_STORED);
});

/** @see RFC 7662 */
tokenEndpoints.post("/login/oauth/introspect", async (c) => {
  const request = await readClientRequest(c);
  const ctx = openCtx(c);
  const application = await findClient(ctx, request.client.clientId);
  // SECURITY: a public client proves nothing, so it could ask about tokens that it found.
  if (!application?.isConfidential || !(await isClient(application, request.client))) {
    return refuseClient(c, new OauthError("invalid_client", "no valid authorization"));
  }
  const token = await findToken(ctx, request.text("token"));
  // SECURITY: of another client's tokens it learns not even that they exist.
  const isOwn = token?.application.id === application.id;
  return c.json(isOwn ? toIntrospection(ctx, token) : { active: false }, 200, NOT_STORED);
});

/** @see RFC 7009 */
tokenEndpoints.post("/login/oauth/revoke", async (c) => {
  const request = await readClientRequest(c);
  const ctx = openCtx(c);
  const application = await findClient(ctx, request.client.clientId);
  if (!application || !(await isClient(application, request.client))) {
    return refuseClient(c, new OauthError("invalid_client", "no valid authorization"));
  }
  await revokeToken(ctx, application, request.text("token"));
  return c.body(null, 200, NOT_STORED);
});

/** @see OpenID Connect Core, section 5.3 */
tokenEndpoints.on(["GET", "POST"], "/login/oauth/userinfo", async (c) => {
  const [, bearer] = /^bearer +(\S+)$/i.exec(c.req.header("authorization")?.trim() ?? "") ?? [];
  if (bearer === undefined) return refuseBearer(c, 401, undefined, "no valid authorization");
  const ctx = openCtx(c);
  const token = await findToken(ctx, bearer);
  // SECURITY: neither a refresh token nor a personal token is sent to this endpoint by a client of
  // OpenID Connect.
  if (token?.kind !== "access_token") {
    return refuseBearer(c, 401, "invalid_token", "Failed to authenticate user");
  }
  const granted = { ...scopesOf(token.grant), scopes: token.scopes };
  const mayReadUser = token.scopes.levels.has("user");
  if (!granted.identity.includes("openid") && !mayReadUser) {
    return refuseBearer(c, 403, "insufficient_scope", "the scope openid is required");
  }
  // GET /user shows the same to a token with the scope read:user.
  const identity = mayReadUser ? [...granted.identity, ...READ_USER] : granted.identity;
  return c.json(await claimsOf(ctx, token.user, { ...granted, identity }), 200, NOT_STORED);
});

const READ_USER = ["profile", "email"] as const;

/** The context of a client, which is no user. */
const openCtx = (c: Context<WebEnv>): Ctx => ({ ...c.var.base, actor: ANONYMOUS });

const answerTokens = (c: Context<WebEnv>, tokens: IssuedTokens): Response =>
  c.json(
    {
      access_token: tokens.accessToken,
      token_type: "bearer",
      expires_in: tokens.expiresInSeconds,
      refresh_token: tokens.refreshToken,
      scope: tokens.scope,
      ...(tokens.idToken !== undefined && { id_token: tokens.idToken }),
    },
    200,
    NOT_STORED,
  );

const toRegistration = ({ application, authMethod, secret }: RegisteredClient) => ({
  client_id: application.clientId,
  client_id_issued_at: Math.floor(application.createdAt / 1000),
  ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
  client_name: application.name,
  redirect_uris: application.redirectUris,
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: authMethod,
});

const toIntrospection = (
  { rootUrl }: Ctx,
  { kind, grant, application, user, scopes, audience, createdAt, expiresAt }: GrantToken,
) => ({
  active: true,
  scope: formatScope({ ...scopesOf(grant), scopes }),
  client_id: application.clientId,
  username: user.name,
  ...(kind === "access_token" && { token_type: "bearer" }),
  exp: Math.floor(expiresAt / 1000),
  iat: Math.floor(createdAt / 1000),
  iss: rootUrl,
  aud: audience === null ? application.clientId : resourceUrl(rootUrl, audience),
  sub: String(user.id),
});

// The methods that exist: another one is answered as at Gitea, and never by the pages.
for (const path of ["access_token", "introspect", "register", "revoke"]) {
  tokenEndpoints.all(`/login/oauth/${path}`, (c) => c.body(null, 405, { Allow: "OPTIONS, POST" }));
}

tokenEndpoints.onError((error, c) => renderOauthFailure(error, c));
