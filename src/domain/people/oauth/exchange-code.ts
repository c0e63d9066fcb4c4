import { and, eq, gt, isNull } from "drizzle-orm";

import { hashSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { oauthGrants, type OauthGrant } from "../../../db/schema/index.ts";
import { type ClientCredentials, isClient } from "./authenticate-client.ts";
import { findClientAndGrant, isStillInForce, mayGrant } from "./find-grant.ts";
import { makeRefreshToken, REFRESH_LIFE_MS } from "./grant-secrets.ts";
import { openIdToken } from "./id-token.ts";
import { type IssuedTokens, openAccessToken, toIssued } from "./issue-tokens.ts";
import { OauthError } from "./oauth-error.ts";
import { isVerifierOf } from "./pkce.ts";
import { isRegistered } from "./redirect-uri.ts";
import { scopesOf } from "./requested-scopes.ts";
import { narrowAudience } from "./resource.ts";
import { endGrant } from "./revoke-grants.ts";

/** A request for tokens by an authorization code. Fields that are not sent are "". */
export interface CodeExchange {
  client: ClientCredentials;
  code: string;
  redirectUri: string;
  codeVerifier: string;
  /** The part of the service that the tokens are for, where it is less than was granted. */
  resource: string;
}

/**
 * Exchanges an authorization code for tokens.
 *
 * SECURITY: a code is exchanged once, which the update decides and not a read before it. Of two who
 * have the code one stole it, so a second use ends the grant and with it the tokens of the first.
 *
 * @throws OauthError with the codes and messages of Gitea.
 */
export async function exchangeCode(ctx: Ctx, exchange: CodeExchange): Promise<IssuedTokens> {
  const { client } = exchange;
  const codeHash = await hashSecret(exchange.code);
  const isGrant = eq(oauthGrants.codeHash, codeHash);
  const { application, entry } = await findClientAndGrant(ctx, client.clientId, isGrant);
  if (!application) {
    throw new OauthError(
      "invalid_client",
      `cannot load client with client id: '${client.clientId}'`,
    );
  }
  if (!(await isClient(application, client))) {
    throw new OauthError("unauthorized_client", "invalid client secret");
  }
  if (!entry) throw unknownCode();
  const { grant, user } = entry;
  // SECURITY: another client learns nothing of the code, and ends nothing.
  if (grant.applicationId !== application.id) {
    throw new OauthError("invalid_grant", "invalid grant");
  }
  if (grant.exchangedAt !== null) {
    await endGrant(ctx, grant, application.name);
    throw unknownCode();
  }
  if (grant.codeExpiresAt <= ctx.now || !mayGrant(user)) throw unknownCode();
  // SECURITY: an address that the application gave up may have another owner.
  if (grant.sentTo === null || !isRegistered(application, grant.sentTo)) throw unknownCode();
  if (exchange.redirectUri !== (grant.redirectUri ?? "")) {
    throw new OauthError("unauthorized_client", "unexpected redirect URI");
  }
  if (!(await isProven(grant, exchange.codeVerifier))) {
    throw new OauthError("unauthorized_client", "failed PKCE code challenge");
  }

  const audience = narrowAudience(ctx.rootUrl, grant.audience, exchange.resource);
  const granted = scopesOf(grant);
  const refresh = await makeRefreshToken();
  const { scopes } = granted;
  const access = await openAccessToken(ctx, grant, application, { scopes, audience });
  const isUnused = and(
    eq(oauthGrants.id, grant.id),
    isNull(oauthGrants.exchangedAt),
    gt(oauthGrants.codeExpiresAt, ctx.now),
    isStillInForce(grant, application),
  );
  const [[exchanged], idToken] = await Promise.all([
    ctx.db.batch([
      ctx.db
        .update(oauthGrants)
        .set({
          exchangedAt: ctx.now,
          familyHash: refresh.familyHash,
          refreshHash: refresh.refreshHash,
          lastUsedAt: ctx.now,
          expiresAt: ctx.now + REFRESH_LIFE_MS,
        })
        .where(isUnused)
        .returning({ id: oauthGrants.id }),
      access.insertIfChanged,
      ...access.bind,
    ]),
    openIdToken(ctx, { grant, user, application, nonce: grant.nonce }),
  ]);
  if (exchanged.length === 0) {
    await endGrant(ctx, grant, application.name);
    throw unknownCode();
  }
  return toIssued(access.secret, refresh.token, granted, idToken);
}

/**
 * Whether the client proves that it began the authorization.
 *
 * SECURITY: a verifier without a challenge is refused too: somebody may have taken the challenge
 * out of the request.
 *
 * @see RFC 9700 section 4.8.2
 */
const isProven = async (
  { codeChallenge }: Pick<OauthGrant, "codeChallenge">,
  verifier: string,
): Promise<boolean> =>
  codeChallenge === null ? verifier === "" : isVerifierOf(codeChallenge, verifier);

const unknownCode = () => new OauthError("unauthorized_client", "client is not authorized");
