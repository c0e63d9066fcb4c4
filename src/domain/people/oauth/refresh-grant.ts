import { and, eq } from "drizzle-orm";

import { isWithin } from "../../../auth/scope.ts";
import type { Ctx } from "../../../context.ts";
import { oauthGrants, type OauthGrant } from "../../../db/schema/index.ts";
import { type ClientCredentials, isClient } from "./authenticate-client.ts";
import { findClient, findClientAndGrant, isStillInForce, mayGrant } from "./find-grant.ts";
import { makeRefreshToken, parseRefreshToken, REFRESH_LIFE_MS } from "./grant-secrets.ts";
import { openIdToken } from "./id-token.ts";
import { type IssuedTokens, openAccessToken, toIssued } from "./issue-tokens.ts";
import { OauthError } from "./oauth-error.ts";
import { parseRequestedScopes, type RequestedScopes, scopesOf } from "./requested-scopes.ts";
import { narrowAudience } from "./resource.ts";
import { endGrant } from "./revoke-grants.ts";

/** A request for tokens by a refresh token. Fields that are not sent are "". */
export interface Refresh {
  client: ClientCredentials;
  refreshToken: string;
  /** Scopes of the access token, if it is to have fewer than the grant. */
  scope: string;
  /** The part of the service that the access token is for, where it is less than was granted. */
  resource: string;
}

/**
 * Exchanges a refresh token for an access token and the next refresh token.
 *
 * SECURITY: each refresh token is used once. Of two who used the same one stole it, so a second use
 * ends the grant.
 *
 * @throws OauthError with the codes and messages of Gitea.
 */
export async function refreshGrant(
  ctx: Ctx,
  { client, refreshToken, scope, resource }: Refresh,
): Promise<IssuedTokens> {
  const sent = await parseRefreshToken(refreshToken);
  const { application, entry } = sent
    ? await findClientAndGrant(ctx, client.clientId, eq(oauthGrants.familyHash, sent.familyHash))
    : { application: await findClient(ctx, client.clientId), entry: undefined };
  if (!application) {
    throw new OauthError(
      "invalid_client",
      `cannot load client with client id: "${client.clientId}"`,
    );
  }
  if (!(await isClient(application, client))) {
    throw new OauthError("invalid_client", "invalid client secret");
  }
  if (!sent) throw new OauthError("unauthorized_client", "unable to parse refresh token");
  // SECURITY: a token of another client is as unknown as any other, and using it ends nothing.
  if (!entry || entry.grant.applicationId !== application.id || !isInForce(ctx, entry.grant)) {
    throw new OauthError("invalid_grant", "grant does not exist");
  }
  const { grant, user } = entry;
  if (!mayGrant(user)) throw new OauthError("invalid_grant", "grant does not exist");
  if (grant.refreshHash !== sent.refreshHash) throw await refuseReuse(ctx, grant, application.name);

  const audience = narrowAudience(ctx.rootUrl, grant.audience, resource);
  const granted = narrow(scopesOf(grant), scope);
  const next = await makeRefreshToken(sent.family);
  const access = await openAccessToken(ctx, grant, application, {
    scopes: granted.scopes,
    audience,
  });
  const isCurrent = and(
    eq(oauthGrants.id, grant.id),
    eq(oauthGrants.refreshHash, sent.refreshHash),
    isStillInForce(grant, application),
  );
  const [[refreshed], idToken] = await Promise.all([
    ctx.db.batch([
      ctx.db
        .update(oauthGrants)
        .set({
          refreshHash: next.refreshHash,
          lastUsedAt: ctx.now,
          expiresAt: ctx.now + REFRESH_LIFE_MS,
        })
        .where(isCurrent)
        .returning({ id: oauthGrants.id }),
      access.insertIfChanged,
      ...access.bind,
      access.deleteOld,
    ]),
    openIdToken(ctx, { grant, user, application, nonce: null }),
  ]);
  if (refreshed.length === 0) throw await refuseReuse(ctx, grant, application.name);
  return toIssued(access.secret, next.token, granted, idToken);
}

const isInForce = ({ now }: Ctx, { expiresAt }: OauthGrant): boolean => expiresAt > now;

async function refuseReuse(ctx: Ctx, grant: OauthGrant, name: string): Promise<OauthError> {
  await endGrant(ctx, grant, name);
  return new OauthError("unauthorized_client", "token was already used");
}

/** @throws OauthError `invalid_scope` for more than was granted. */
function narrow(granted: RequestedScopes, scope: string): RequestedScopes {
  if (scope === "") return granted;
  const { scopes, identity } = parseRequestedScopes(scope);
  const isNarrower =
    isWithin(scopes, granted.scopes) && identity.every((name) => granted.identity.includes(name));
  if (isNarrower) return { scopes, identity };
  throw new OauthError("invalid_scope", "the scope exceeds what the user granted");
}
